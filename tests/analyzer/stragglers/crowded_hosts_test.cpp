#include <gmock/gmock.h>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "verdict/verdict.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::StepPlan;
using testing::SyntheticRun;

/// Rank 1 of some computes longer by a factor; tasks waited for a CPU for that many percent of the time.
Report report_on(std::uint32_t ranks, double factor, int percent) {
  SyntheticRun plan;
  plan.ranks = ranks;
  plan.fault = [factor](StepPlan& step, std::uint32_t rank, std::int64_t) {
    if (rank == 1) step.forward *= factor, step.backward *= factor;
  };
  std::string text = text_of(plan);
  for (std::int64_t time_ns = 0; time_ns < 2'000'000'000; time_ns += 100'000'000)
    text += format("0 counter {} {} pressure_cpu_percent\n", time_ns, percent);
  return analyze(*testing::run_of(text), {});
}

/// The same of equal ranks with an accelerator each, on a host whose CPUs are all taken.
Report report_on_accelerators(double noise) {
  SyntheticRun plan;
  plan.noise = noise;
  std::string text = text_of(plan);
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) text += format("{} compute 1000 2000 gemm lane=s7\n", rank);
  for (std::int64_t time_ns = 0; time_ns < 2'000'000'000; time_ns += 100'000'000)
    text += format("0 counter {} 97 pressure_cpu_percent\n", time_ns);
  return analyze(*testing::run_of(text), {});
}

TEST(CrowdedHosts, NoRankIsNamedThatTheWantOfCpusExplains) {
  for (const std::uint32_t ranks : {2U, 4U}) {
    const Report report = report_on(ranks, 1.3, 97);
    ASSERT_TRUE(report.stragglers);
    EXPECT_THAT(report.stragglers->rows, IsEmpty()) << ranks;
    EXPECT_THAT(
        report.stragglers->cannot_tell,
        HasSubstr(
            "at least one task was waiting for a CPU 97 % of the time, so slowdowns below 50 % cannot be detected"));
    EXPECT_THAT(verdict_of(report).more, ::testing::Contains(HasSubstr("Cannot tell whether a rank is slow: on host")));
  }
}

TEST(CrowdedHosts, SayNothingOfWhatAcceleratorsCompute) {
  const Report report = report_on_accelerators(0.005);
  ASSERT_TRUE(report.stragglers);
  EXPECT_EQ(report.stragglers->chance_slowdown, 1);
  EXPECT_THAT(report.stragglers->cannot_tell,
              HasSubstr("slowdowns below 50 % caused by the host or by waiting for data"));
}

TEST(CrowdedHosts, NoiseOfAcceleratorsIsStillSaid) {
  const Report report = report_on_accelerators(0.3);
  ASSERT_TRUE(report.stragglers);
  ASSERT_GT(report.stragglers->smallest_detectable.value_or(1), 1.25);
  EXPECT_THAT(report.stragglers->cannot_tell,
              HasSubstr("slowdowns below 50 % caused by the host or by waiting for data"));
  EXPECT_THAT(report.stragglers->cannot_tell,
              HasSubstr("; the own times of ranks that do equal work differ too much in this run"));
}

TEST(CrowdedHosts, ARankThatIsMuchSlowerIsNamed) {
  const Report report = report_on(4, 2, 97);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->rows.front().rank, RankId{1});
}

TEST(CrowdedHosts, WhereCpusAreFreeARankIsNamedAsEver) {
  const Report report = report_on(4, 1.3, 30);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->cannot_tell, "");
}

TEST(CrowdedHosts, WhereTheOneOfTwoIsNamedNoOtherOneCouldBeHidden) {
  const Report report = report_on(2, 2, 97);
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->cannot_tell, "");
}

}  // namespace
}  // namespace rankscope::analyzer
