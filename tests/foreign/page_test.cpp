// The page of every recording that others made.
#include <gtest/gtest.h>

#include <filesystem>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/render.h"
#include "shared_data.h"
#include "support/markup.h"

namespace rankscope::analyzer {
namespace {

std::vector<std::string> recordings() {
  std::vector<std::string> files;
  for (const std::string folder : {"kineto", "nsys"})
    for (const auto& name : testing::shared_files(folder))
      if (name.find(".json") != std::string::npos || name.ends_with(".sqlite")) files.push_back(folder + "/" + name);
  if (files.empty()) files.emplace_back();
  return files;
}

class Pages : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
};

TEST_P(Pages, AreWellFormedSmallAndTheirBarsAddUp) {
  const auto run = open_run(testing::shared_data() / GetParam());
  ASSERT_TRUE(run) << run.error().message;
  const Report report = analyze(**run, {});
  const std::string page = render_html(report, **run, {});
  EXPECT_EQ(testing::badly_nested(page), "");
  EXPECT_LT(page.size(), 2'000'000U);
  if (!report.rank_rows) return;
  for (const RankRow& row : *report.rank_rows) {
    const TimeSplit& split = row.total;
    EXPECT_EQ(split.compute_ns + split.exposed_comm_ns + split.memory_ns + split.idle_ns, split.window_ns);
    EXPECT_LE(split.exposed_wait_ns + split.exposed_transfer_ns, split.exposed_comm_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(Shared, Pages, ::testing::ValuesIn(recordings()),
                         [](const auto& test) { return testing::plain_name(test.param); });

}  // namespace
}  // namespace rankscope::analyzer
