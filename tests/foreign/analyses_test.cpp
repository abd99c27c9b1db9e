// What a report concludes from recordings that others made.
#include <gtest/gtest.h>

#include <algorithm>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "shared_data.h"

namespace rankscope {
namespace {

class AnalysesOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam().empty()) GTEST_SKIP() << testing::no_shared_data;
  }
  [[nodiscard]] static std::shared_ptr<const rankscope::Run> opened() {
    const auto run = analyzer::open_run(testing::shared_data() / GetParam());
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : nullptr;
  }
};

/// metrics.md 12: what would happen without unevenness never takes longer than what did.
TEST_P(AnalysesOf, NoIdealIsAboveTheMeasured) {
  const analyzer::Report report = analyzer::analyze(*opened(), {});
  if (!report.what_if) GTEST_SKIP() << report.what_if.error().why;
  EXPECT_LE(report.what_if->ideal_ns.value_or(0), report.what_if->replayed_ns);
  EXPECT_LE(report.what_if->ideal_network_ns.value_or(0), report.what_if->replayed_ns);
  EXPECT_LE(report.what_if->without_host_delay_ns, report.what_if->replayed_ns);
  EXPECT_GE(report.what_if->slowdown.value_or(1), 1);
}

/// metrics.md 8.
TEST_P(AnalysesOf, NoEfficiencyIsComputedWithoutCommunication) {
  const auto run = opened();
  const analyzer::Report report = analyzer::analyze(*run, {});
  if (!report.rank_rows) GTEST_SKIP() << report.rank_rows.error().why;
  const bool none = run->collectives().empty() &&
                    std::ranges::all_of(*report.rank_rows, [](const auto& row) { return row.total.comm_ns == 0; });
  EXPECT_FALSE(none && report.efficiency);
}

INSTANTIATE_TEST_SUITE_P(Shared, AnalysesOf, ::testing::ValuesIn(testing::shared_recordings()),
                         [](const auto& param) { return testing::plain_name(param.param); });

/// 968 of its kernels were launched before the recording and ran for 30 ms of the first step, which was 49 ms long.
TEST(Leftovers, AreNotChargedToTheFirstStep) {
  const auto path = testing::shared_data() / "kineto" / "mi300_act_checkpoint";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << testing::no_shared_data;
  const auto run = analyzer::open_run(path);
  ASSERT_TRUE(run) << run.error().message;
  const analyzer::Report report = analyzer::analyze(**run, {});
  ASSERT_TRUE(report.steps);
  ASSERT_EQ(report.steps->steps.size(), 3U);
  for (const analyzer::Step& step : report.steps->steps) {
    EXPECT_GT(step.wall_ns, 18'000'000);
    EXPECT_LT(step.wall_ns, 20'000'000);
  }
  EXPECT_GT(report.steps->leftovers_ns, 30'000'000);
}

}  // namespace
}  // namespace rankscope
