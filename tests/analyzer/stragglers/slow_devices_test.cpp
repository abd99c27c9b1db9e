// A slow rank and the counters of its GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::StepPlan;
using testing::SyntheticRun;

/// What NVML tells of the GPU of a rank in one sample.
struct Sample {
  double mhz = 1755;
  unsigned reasons = 0;
};
using Samples = std::function<Sample(std::uint32_t rank, int index)>;

/// Rank 1 computes slowly; rank 0 samples the GPU of each rank every 20 ms. Numbers of NVML run against those of ranks.
struct Job {
  std::uint32_t ranks = 2;
  Samples samples;
  std::string_view with = "sm_clock_mhz throttle_reasons";
  std::int64_t slow_from_step = 0;
  std::int64_t steps = 20;
};

std::shared_ptr<const Run> run_of_job(const Job& job) {
  SyntheticRun plan;
  plan.ranks = job.ranks;
  plan.steps = job.steps;
  plan.fault = [&job](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    if (rank == 1 && index >= job.slow_from_step) step.forward *= 2;
  };
  for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
    plan.head += format("@rank {0} pid={0} local_rank={0} meta.device_uuid=GPU-{0}", rank);
    for (std::uint32_t number = 0; rank == 0 && number < job.ranks; ++number)
      plan.head += format(" meta.nvml_gpu_{}=\"GPU-{} H100\"", number, job.ranks - 1 - number);
    plan.head += '\n';
  }
  std::string text = text_of(plan);
  constexpr std::int64_t period_ns = 20'000'000;
  for (int index = 0; index < job.steps * 8; ++index)
    for (std::uint32_t rank = 0; rank < job.ranks; ++rank) {
      const Sample sample = job.samples(rank, index);
      const std::string at = format("0 counter {}", index * period_ns);
      const std::uint32_t number = job.ranks - 1 - rank;
      if (job.with.find("sm_clock") != job.with.npos)
        text += format("{} {} \"GPU {} sm_clock_mhz\"\n", at, sample.mhz, number);
      if (job.with.find("throttle") != job.with.npos)
        text += format("{} {} \"GPU {} throttle_reasons\"\n", at, sample.reasons, number);
    }
  return testing::run_of(text);
}

Straggler straggler_of(const Job& job) {
  const Report report = analyze(*run_of_job(job), {});
  EXPECT_TRUE(report.stragglers && report.stragglers->rows.size() == 1U);
  return report.stragglers && !report.stragglers->rows.empty() ? report.stragglers->rows[0] : Straggler{};
}

Sample power_capped(std::uint32_t rank, int index) {
  if (rank == 1) return {1095, index % 5 == 0 ? 0U : 0x4U};
  return {1755, index % 20 == 0 ? 0x4U : 0U};
}

TEST(SlowDevices, AClockBelowThatOfTheOthersIsTheSecondProof) {
  const Straggler row = straggler_of({.samples = power_capped});
  EXPECT_EQ(row.rank, RankId{1});
  EXPECT_EQ(row.kind, StragglerKind::compute);
  EXPECT_EQ(row.certainty, Certainty::fact);
  EXPECT_EQ(row.device, SlowDevice::power_limit);
  EXPECT_THAT(
      row.evidence,
      HasSubstr(
          "; its GPU ran at 1095 MHz, the other at 1755 MHz (medians): power cap in 80 % of its samples (peers: 5 %)"));
  const Straggler of_four = straggler_of({.ranks = 4, .samples = power_capped});
  EXPECT_THAT(of_four.evidence, HasSubstr("its GPU ran at 1095 MHz, the others at 1755 MHz (medians)"));
}

TEST(SlowDevices, TheFindingSaysWhatToDoAboutTheGpu) {
  const Report report = analyze(*run_of_job({.samples = power_capped}), {});
  const auto found = std::ranges::find(*report.findings, "straggler.compute", &Finding::id);
  ASSERT_NE(found, report.findings->end());
  EXPECT_THAT(found->evidence, HasSubstr("1095 MHz"));
  EXPECT_THAT(found->evidence, Not(HasSubstr("cannot be told")));
  EXPECT_THAT(found->advice, HasSubstr("power limit"));
}

TEST(SlowDevices, EqualClocksProveNothing) {
  const Straggler row = straggler_of({.samples = [](std::uint32_t rank, int) -> Sample {
    return {rank == 1 ? 1740.0 : 1755.0, 0x4};
  }});
  EXPECT_EQ(row.certainty, Certainty::of_two);
  EXPECT_FALSE(row.device);
  EXPECT_THAT(row.evidence, Not(HasSubstr("GPU")));
}

TEST(SlowDevices, ClocksThatSomebodySetAreNamed) {
  const Straggler row = straggler_of({.samples = [](std::uint32_t rank, int) -> Sample {
    return rank == 1 ? Sample{1200, 0x2} : Sample{};
  }});
  EXPECT_EQ(row.device, SlowDevice::clocks_set);
  EXPECT_THAT(row.evidence, HasSubstr("clocks set by a user in 100 % of its samples"));
}

TEST(SlowDevices, WithoutClocksMoreThrottlingThanTheOthersIsTheProof) {
  const auto hot = [](std::uint32_t rank, int index) -> Sample {
    return {0, rank == 1 && index % 2 == 0 ? 0x20U : 0U};
  };
  const Straggler row = straggler_of({.samples = hot, .with = "throttle_reasons"});
  EXPECT_EQ(row.certainty, Certainty::fact);
  EXPECT_EQ(row.device, SlowDevice::too_hot);
  EXPECT_THAT(row.evidence, HasSubstr("its GPU was throttled: thermal slowdown in 50 % of its samples (peers: 0 %)"));
  const auto all_hot = [](std::uint32_t, int index) -> Sample { return {0, index % 2 == 0 ? 0x20U : 0U}; };
  EXPECT_EQ(straggler_of({.samples = all_hot, .with = "throttle_reasons"}).certainty, Certainty::of_two);
}

TEST(SlowDevices, OnlyTheStepsInWhichTheRankWasSlowCount) {
  Job job{.ranks = 4,
          .samples = [](std::uint32_t rank, int index) -> Sample {
            return rank == 1 && index > 130 ? Sample{900, 0x40} : Sample{};
          },
          .slow_from_step = 20,
          .steps = 36};
  const Straggler row = straggler_of(job);
  ASSERT_TRUE(row.since_step);
  EXPECT_EQ(row.device, SlowDevice::too_hot) << "its median over all steps is that of the others";
  EXPECT_THAT(row.evidence, HasSubstr("its GPU ran at 900 MHz"));
}

TEST(SlowDevices, AHotGpuOfARankThatIsNotSlowIsAFindingOfItsOwn) {
  SyntheticRun plan;
  plan.head += "@rank 0 pid=1 meta.device_uuid=GPU-0 meta.nvml_gpu_0=\"GPU-0 H100\"\n";
  const auto report_with = [&plan](unsigned reason, int every) {
    std::string text = text_of(plan);
    for (int index = 0; index < 200; ++index)
      text += format("0 counter {0} {1} \"GPU 0 throttle_reasons\"\n0 counter {0} 91 \"GPU 0 temperature_celsius\"\n",
                     index * 12'000'000LL, index % every == 0 ? reason : 0);
    return analyze(*testing::run_of(text), {});
  };
  const auto throttled = [](const Report& report) -> const Finding* {
    const auto found = std::ranges::find(*report.findings, "gpu_throttled", &Finding::id);
    return found == report.findings->end() ? nullptr : &*found;
  };
  const Report hot = report_with(0x48, 4);
  ASSERT_NE(throttled(hot), nullptr);
  EXPECT_EQ(throttled(hot)->severity, FindingSeverity::minor);
  EXPECT_THAT(throttled(hot)->evidence, HasSubstr("hardware thermal slowdown in 2"));
  EXPECT_THAT(throttled(hot)->evidence, HasSubstr("at up to 91 °C"));
  const Report brake = report_with(0x80, 1);
  ASSERT_NE(throttled(brake), nullptr);
  EXPECT_EQ(throttled(brake)->severity, FindingSeverity::major);
  EXPECT_EQ(throttled(report_with(0x4, 1)), nullptr) << "a power cap is how a busy GPU runs";
  EXPECT_EQ(throttled(report_with(0x20, 20)), nullptr) << "seldom";
}

}  // namespace
}  // namespace rankscope::analyzer
