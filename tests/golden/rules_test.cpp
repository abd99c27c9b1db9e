// docs/findings.md ends in the table of rules; scripts/golden --update rewrites it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/report.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

TEST(Rules, TheDocumentHasTheTableOfTheProgram) {
  const std::filesystem::path path = std::filesystem::path{RANKSCOPE_GOLDEN} / "../../docs/findings.md";
  const std::string text = testing::read_file(path);
  const std::size_t table = text.find("| id |");
  ASSERT_NE(table, std::string::npos);
  if (std::getenv("RANKSCOPE_GOLDEN_UPDATE") != nullptr) {
    const auto written = write_file(path, text.substr(0, table) + rules_as_markdown());
    EXPECT_TRUE(written) << written.error().message;
  } else {
    EXPECT_EQ(text.substr(table), rules_as_markdown()) << "If this is intended: scripts/golden --update";
  }
}

}  // namespace
}  // namespace rankscope::analyzer
