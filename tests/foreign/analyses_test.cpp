// What a report concludes from recordings that others made.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "known_lacks.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "shared_data.h"

namespace rankscope {
namespace {

using testing::lacks;
using testing::Lacks;

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

/// The others have too few ranks or steps, or do not say which ranks took part in their operations.
constexpr std::array<std::string_view, 6> with_an_ideal{"kineto/amd_mi250/",
                                                        "kineto/cpu_only_gloo_rank34of300/",
                                                        "kineto/critical_path/cuda_event_sync/",
                                                        "kineto/deepseek_ep/",
                                                        "kineto/triton/",
                                                        "nsys/training_2xh100/"};

/// metrics.md 12: what would happen without imbalance never takes longer than what did.
TEST_P(AnalysesOf, NoIdealIsAboveTheMeasured) {
  const analyzer::Report report = analyzer::analyze(*opened(), {});
  if (lacks(GetParam(), Lacks::times)) {
    EXPECT_FALSE(report.what_if);
    return;
  }
  ASSERT_TRUE(report.what_if) << report.what_if.error().why;
  const bool has_ideal =
      std::ranges::any_of(with_an_ideal, [](std::string_view name) { return GetParam().starts_with(name); });
  EXPECT_EQ(report.what_if->ideal_ns.has_value(), has_ideal);
  EXPECT_LE(report.what_if->ideal_ns.value_or(0), report.what_if->replayed_ns);
  EXPECT_LE(report.what_if->ideal_network_ns.value_or(0), report.what_if->replayed_ns);
  EXPECT_LE(report.what_if->without_host_delay_ns, report.what_if->replayed_ns);
  EXPECT_GE(report.what_if->slowdown.value_or(1), 1);
}

/// metrics.md 8.
TEST_P(AnalysesOf, EfficiencyIsComputedExactlyWhereThereIsCommunicationAndCompute) {
  const auto run = opened();
  const analyzer::Report report = analyzer::analyze(*run, {});
  EXPECT_EQ(report.efficiency.has_value(), !testing::lacks_efficiency(GetParam()));
  if (lacks(GetParam(), Lacks::times)) {
    EXPECT_FALSE(report.rank_rows);
    return;
  }
  ASSERT_TRUE(report.rank_rows) << report.rank_rows.error().why;
  const bool none = run->collectives().empty() &&
                    std::ranges::all_of(*report.rank_rows, [](const auto& row) { return row.total.comm_ns == 0; });
  EXPECT_EQ(none, lacks(GetParam(), Lacks::communication));
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
