// Whole outputs of small runs: tests/golden/<case>/input.txt and what is expected of it. scripts/golden --update
// rewrites the expectations; the change is reviewed like code.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/output_file.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/model/text.h"
#include "support/perfetto_trace.h"
#include "support/sqlite_rows.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;
using testing::read_file;

bool updating() { return std::getenv("RANKSCOPE_GOLDEN_UPDATE") != nullptr; }

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator{RANKSCOPE_GOLDEN}) {
    if (fs::exists(entry.path() / "input.txt")) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

void expect_golden(const fs::path& expected, const std::string& actual) {
  if (updating()) {
    const auto written = write_file(expected, actual);
    EXPECT_TRUE(written) << written.error().message;
  } else {
    EXPECT_EQ(read_file(expected), actual) << "If this is intended: scripts/golden --update";
  }
}

/// What an export wrote, as text that shows a change.
std::string readable(const ExportInfo& info, const fs::path& out) {
  if (info.id == "perfetto") return testing::text_of(testing::read_perfetto(read_file(out)));
  if (info.id == "sqlite") return testing::sqlite_text(out);
  if (!fs::is_directory(out)) return read_file(out);
  std::vector<fs::path> files(fs::directory_iterator{out}, fs::directory_iterator{});
  std::ranges::sort(files);
  std::string text;
  for (const auto& file : files)
    if (!file.filename().string().starts_with('.')) text += file.filename().string() + "\n" + read_file(file);
  return text;
}

std::string exported(const ExportInfo& info, const Run& run) {
  const testing::TemporaryFolder folder;
  const auto written = info.write(run, folder / "out", {});
  EXPECT_TRUE(written) << written.error().message;
  return readable(info, folder / "out");
}

std::string file_name(const ExportInfo& info) {
  return "expected." + std::string{info.id} + (info.id == "chrome" ? ".json" : ".txt");
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, OutputIsAsExpected) {
  const fs::path folder = fs::path{RANKSCOPE_GOLDEN} / GetParam();
  const auto run = run_from_text(read_file(folder / "input.txt"));
  ASSERT_TRUE(run) << run.error().message;
  ReportOptions options;
  options.instances = true;
  const auto report = analyze(**run, options);
  expect_golden(folder / "expected.txt", render_text(report, **run, options, Colour::no));
  expect_golden(folder / "expected.json", render_json(report, **run, options));
  for (const auto& format : exports()) {
    expect_golden(folder / file_name(format), exported(format, **run));
  }
}

std::string name_of_case(const ::testing::TestParamInfo<std::string>& test) {
  auto name = test.param;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Case, Golden, ::testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace rankscope::analyzer
