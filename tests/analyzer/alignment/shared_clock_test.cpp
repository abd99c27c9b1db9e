// Traces of Gloo: hosts are not known, operations have no numbers, and ranks leave operations when they get a CPU.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "alignment/align.h"
#include "alignment/aligned_run.h"
#include "analyzer/alignment/traced_pipeline.h"
#include "analyzer/synthetic_run.h"
#include "collectives/find.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using testing::run_of;
using testing::TracedPipeline;

constexpr std::uint32_t rank_count = 4;
constexpr double ms = 1e6;

/// Steps of 60 ms, each with one all-reduce that takes 0.3 ms from its last start on.
struct TracedTraining {
  std::int64_t steps = 3;
  double late_ms = 0;      ///< of rank 2 in each step
  double jitter_ms = 0.4;  ///< of the start of each rank, at most
  double exit_ms = 0.02;   ///< mean delay of the end of each rank except the last to arrive
  std::array<double, rank_count> offsets_ms{};
  std::uint64_t seed = 1;
};

struct Traced {
  std::shared_ptr<const Run> run;
  double wait_ms = 0;  ///< true waits of all ranks
};

Traced make(const TracedTraining& plan) {
  std::mt19937_64 random{plan.seed};
  std::exponential_distribution<double> exit_delay{1};
  std::uniform_real_distribution<double> jitter{0, plan.jitter_ms};
  std::string text = "@run clock=wall_clock clock_error=10000000 source=kineto\n";
  for (std::uint32_t rank = 0; rank < rank_count; ++rank)
    text += format("@rank {0}\n@lane {0} main kind=thread number=1\n", rank);
  text += "@group default_pg 0,1,2,3\n";
  Traced traced;
  for (std::int64_t step = 0; step < plan.steps; ++step) {
    std::array<double, rank_count> starts{};
    for (std::uint32_t rank = 0; rank < rank_count; ++rank)
      starts[rank] = 60.0 * static_cast<double>(step) + 2 + jitter(random) + (rank == 2 ? plan.late_ms : 0);
    const auto last = static_cast<std::uint32_t>(std::ranges::max_element(starts) - starts.begin());
    for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
      const double end = starts[last] + 0.3 + (rank == last ? 0 : plan.exit_ms * exit_delay(random));
      const auto shown = [&](double time_ms) { return std::llround((time_ms + plan.offsets_ms[rank]) * ms); };
      traced.wait_ms += starts[last] - starts[rank];
      text += format("{} step {} {} ProfilerStep#{} index={} lane=main\n", rank,
                     shown(60.0 * static_cast<double>(step)), shown(60.0 * static_cast<double>(step + 1)), step, step);
      text += format("{} op {} {} aten::linear lane=main\n", rank, shown(starts[rank] - 1), shown(starts[rank]));
      text += format("{} comm {} {} gloo:all_reduce op=allreduce group=default_pg seq=-1 lane=main\n", rank,
                     shown(starts[rank]), shown(end));
    }
  }
  traced.run = run_of(text);
  return traced;
}

double wait_ms_of(const Run& run) {
  const AlignedRun aligned{run};
  const Matching matching = match_collectives(aligned.run(), aligned.clocks());
  if (!matching.section) return std::nan("");
  double sum = 0;
  for (const MemberPart& part : matching.parts) sum += static_cast<double>(part.wait_ns) / ms;
  return sum;
}

double error_ms(const Alignment& alignment) { return static_cast<double>(alignment.clock.error.count()) / ms; }

TEST(SharedClock, IsAssumedIfNoOperationContradictsIt) {
  const Alignment alignment = align_clocks(*make(TracedTraining{}).run);
  EXPECT_EQ(alignment.clock.method, "assumed_shared");
  EXPECT_TRUE(alignment.section.assumed_shared);
  EXPECT_LT(error_ms(alignment), 1);
  EXPECT_GT(error_ms(alignment), 0.2) << "the order of events allows clocks to be this far apart";
  ASSERT_FALSE(alignment.section.notes.empty());
  EXPECT_THAT(alignment.section.notes.front(),
              HasSubstr("no rank ends an operation before all ranks that it waits for have started the operation"));
}

TEST(SharedClock, KeepsLateExitsOfABusyHostOutOfTheWaits) {
  std::size_t assumed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Traced traced = make({.exit_ms = 4, .seed = seed});
    if (align_clocks(*traced.run).clock.method != "assumed_shared") continue;
    ++assumed;
    EXPECT_NEAR(wait_ms_of(*traced.run), traced.wait_ms, 0.01) << seed;
  }
  EXPECT_GE(assumed, 18U);
}

TEST(SharedClock, KeepsThemOutIfOneRankIsAlwaysLate) {
  std::size_t assumed = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Traced traced = make({.steps = 20, .late_ms = 40, .exit_ms = 3, .seed = seed});
    const Alignment alignment = align_clocks(*traced.run);
    if (alignment.clock.method != "assumed_shared") continue;
    ++assumed;
    EXPECT_NEAR(wait_ms_of(*traced.run), traced.wait_ms, 0.01) << seed;
  }
  EXPECT_GE(assumed, 18U);
}

TEST(SharedClock, IsNotAssumedIfRanksAlwaysEndAsFarApartAsTheClocksOfTwoHosts) {
  const Traced traced = make({.late_ms = 40, .offsets_ms = {0, 0, -3, -3}});
  EXPECT_EQ(align_clocks(*traced.run).clock.method, "wall_clock");
  EXPECT_NEAR(wait_ms_of(*traced.run), traced.wait_ms, 2) << "durations do not depend on the clocks";
}

TEST(SharedClock, IsNotAssumedIfAnOperationEndsBeforeAllRanksHaveBegunIt) {
  const Alignment alignment = align_clocks(*make({.offsets_ms = {0, 0, 3, 3}}).run);
  EXPECT_EQ(alignment.clock.method, "wall_clock");
}

TEST(SharedClock, IsNeverMoreExactThanTheClocksOfTwoHostsThatNtpSets) {
  std::mt19937_64 random{7};
  std::uniform_real_distribution<double> offset{-3, 3};
  std::size_t assumed = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const double apart = offset(random);
    const Traced traced = make({.steps = seed % 2 == 0 ? 3 : 20,
                                .late_ms = seed % 3 == 0 ? 40.0 : 0.0,
                                .jitter_ms = 2,
                                .exit_ms = seed % 5 == 0 ? 0.02 : 3,
                                .offsets_ms = {0, 0, apart, apart},
                                .seed = seed});
    const Alignment alignment = align_clocks(*traced.run);
    if (alignment.clock.method != "assumed_shared") continue;
    ++assumed;
    EXPECT_GE(error_ms(alignment), std::abs(apart)) << seed;
  }
  EXPECT_GT(assumed, 20U);
}

TEST(SharedClock, GrowsDoubtfulIfTheOperationsAreFarApartInTime) {
  std::string text =
      "@run clock=wall_clock clock_error=10000000 source=kineto\n@rank 0\n@rank 1\n@group default_pg 0,1\n";
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t rank = 0; rank < 2; ++rank)
      text += format("{} comm {} {} allreduce group=default_pg seq=-1\n", rank,
                     i * 100'000'000'000 + 1000 * (rank ^ (i % 2)), i * 100'000'000'000 + 100'000);
  EXPECT_EQ(align_clocks(*run_of(text)).clock.method, "wall_clock") << "clocks can drift apart by 20 ms in 200 s";
}

TEST(SharedClock, OfAPipelineFollowsFromSendsInBothDirections) {
  const Alignment alignment = align_clocks(*testing::make(TracedPipeline{}));
  EXPECT_EQ(alignment.clock.method, "assumed_shared");
  EXPECT_LT(error_ms(alignment), 1.5);
}

TEST(SharedClock, IsNotAskedForIfHostsAreKnown) {
  std::string text =
      "@run clock=wall_clock clock_error=10000000 source=kineto\n@rank 0 host=a\n@rank 1 host=b\n@group dp 0,1\n";
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t rank = 0; rank < 2; ++rank)
      text += format("{} comm {} {} allreduce group=dp seq=-1\n", rank, i * 1'000'000 + 1000 * (rank ^ (i % 2)),
                     i * 1'000'000 + 100'000);
  EXPECT_EQ(align_clocks(*run_of(text)).clock.method, "wall_clock");
}

}  // namespace
}  // namespace rankscope::analyzer
