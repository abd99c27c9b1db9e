#include "efficiency/parts.h"

#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/synthetic_run.h"
#include "split/rank_rows.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

Section<EfficiencySection> efficiency_of(const Run& run) {
  const ClockTrust clocks{run};
  const Matching matching = match_collectives(run, clocks);
  const auto steps = find_steps(run, clocks, {}).section;
  return find_efficiency(run, steps, split_ranks(run, steps, matching, {}));
}

void expect_product(const EfficiencyFactors& factors) {
  const double product = factors.load_balance() * factors.communication() * factors.orchestration();
  EXPECT_NEAR(product, factors.parallel(), 1e-12);
  for (const double factor :
       {factors.parallel(), factors.load_balance(), factors.communication(), factors.orchestration()}) {
    EXPECT_GE(factor, 0);
    EXPECT_LE(factor, 1);
  }
}

// Rank 0 computes 40 of 100, rank 1 computes 80 of 100; rank 0 waits 50 in the allreduce; 10 of each are idle.
constexpr std::string_view uneven_ranks =
    "@run clock=same_host\n@group dp 0,1\n@rank 0 host=a\n@rank 1 host=a\n"
    "0 step 0 100 step index=0\n0 compute 0 40 gemm\n0 comm 40 90 allreduce group=dp\n"
    "1 step 0 100 step index=0\n1 compute 0 80 gemm\n1 comm 80 90 allreduce group=dp\n";

TEST(Efficiency, IsTheProductOfBalanceCommunicationAndOrchestration) {
  const auto section = efficiency_of(*run_of(uneven_ranks));
  ASSERT_TRUE(section) << section.error().why;
  const EfficiencyFactors& factors = section->run;
  EXPECT_DOUBLE_EQ(factors.parallel(), 0.6);
  EXPECT_DOUBLE_EQ(factors.load_balance(), 0.75);
  EXPECT_DOUBLE_EQ(factors.communication(), 80.0 / 90);
  EXPECT_DOUBLE_EQ(factors.orchestration(), 0.9);
  EXPECT_EQ(factors.most_computing, RankId{1});
  EXPECT_EQ(factors.most_active, RankId{0}) << "of equal ones the lowest";
  expect_product(factors);
}

TEST(Efficiency, TheLedgerHoldsAllTimeOfAllRanks) {
  const auto section = efficiency_of(*run_of(uneven_ranks));
  EXPECT_EQ(section->whole_ns, 200);
  EXPECT_EQ(std::accumulate(section->ledger.begin(), section->ledger.end(), std::int64_t{0}), 200);
  EXPECT_EQ(section->ledger[static_cast<std::size_t>(LedgerPart::compute)], 120);
  EXPECT_EQ(section->ledger[static_cast<std::size_t>(LedgerPart::exposed_wait)], 40);
  EXPECT_EQ(section->ledger[static_cast<std::size_t>(LedgerPart::exposed_transfer)], 20);
  EXPECT_EQ(section->ledger[static_cast<std::size_t>(LedgerPart::idle_host)], 20);
}

TEST(Efficiency, WhatLiesBehindAShorterWindowIsTheTail) {
  const auto section = efficiency_of(
      *run_of("0 step 0 100 step index=0\n0 compute 0 100 gemm\n1 step 0 70 step index=0\n1 compute 0 70 gemm\n"));
  EXPECT_EQ(section->ledger[static_cast<std::size_t>(LedgerPart::tail)], 30);
  EXPECT_EQ(section->run.longest, RankId{0});
  EXPECT_DOUBLE_EQ(section->run.orchestration(), 1);
}

TEST(Efficiency, BalanceIsDividedIntoThatBetweenAndInsideClasses) {
  const auto section = efficiency_of(*run_of(
      "@rank 0 meta.stage=0 host=a\n@rank 1 meta.stage=0 host=b\n@rank 2 meta.stage=1 host=a\n@rank 3 meta.stage=1 "
      "host=b\n"
      "0 step 0 100 step index=0\n0 compute 0 40 gemm\n1 step 0 100 step index=0\n1 compute 0 40 gemm\n"
      "2 step 0 100 step index=0\n2 compute 0 80 gemm\n3 step 0 100 step index=0\n3 compute 0 80 gemm\n"));
  EXPECT_DOUBLE_EQ(section->classes.between.value.value_or(0), 0.75);
  EXPECT_DOUBLE_EQ(section->classes.inside.value.value_or(0), 1);
  EXPECT_DOUBLE_EQ(section->hosts.between.value.value_or(0), 1);
  EXPECT_DOUBLE_EQ(section->hosts.inside.value.value_or(0), 0.75);
  ASSERT_EQ(section->classes.groups.size(), 2U);
  EXPECT_EQ(section->classes.groups[0].name, "stage 0");
  EXPECT_DOUBLE_EQ(section->classes.groups[0].factors.parallel(), 0.4) << "of the longest window of the job";
  for (const EfficiencyGroup& group : section->classes.groups) expect_product(group.factors);
}

TEST(Efficiency, OneRankIsInBalance) {
  const auto section = efficiency_of(*run_of("0 step 0 100 step index=0\n0 compute 0 40 gemm\n"));
  EXPECT_DOUBLE_EQ(section->run.load_balance(), 1);
  EXPECT_DOUBLE_EQ(section->run.communication(), 1);
  EXPECT_DOUBLE_EQ(section->run.orchestration(), 0.4);
}

TEST(Efficiency, WithoutAReplayTransferAndSerializationAreNotKnown) {
  auto section = efficiency_of(*run_of(uneven_ranks));
  EXPECT_FALSE(section->transfer.value);
  EXPECT_EQ(section->serialization.why, "the step was not replayed with instant transfers");
  set_network(*section, unavailable("the replay errs too much"));
  EXPECT_EQ(section->transfer.why, "the replay errs too much");
  set_network(*section, NetworkReplay{.step_ns = 100, .step_without_transfers_ns = 80});
  EXPECT_DOUBLE_EQ(*section->transfer.value, 0.8);
  EXPECT_NEAR(section->run.load_balance() * *section->serialization.value * *section->transfer.value *
                  section->run.orchestration(),
              section->run.parallel(), 1e-12);
}

TEST(Efficiency, ARankWithoutStepsIsLeftOutAndNamed) {
  const auto section = efficiency_of(
      *run_of("0 step 0 100 step index=0\n0 compute 0 40 gemm\n1 step 0 100 step index=0\n1 compute 0 40 gemm\n"
              "2 compute 0 9000 gemm\n"));
  EXPECT_EQ(section->left_out, std::vector{RankId{2}});
  EXPECT_EQ(section->run.longest_ns, 100);
}

TEST(Efficiency, NothingComputedHasNoFactors) {
  const auto section = efficiency_of(*run_of("0 comm 0 10 allreduce group=-\n"));
  ASSERT_FALSE(section);
  EXPECT_EQ(section.error().why, "no rank computed anything");
}

TEST(Efficiency, StepsAndClassesKeepTheProductOnNoisyRuns) {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const auto run = testing::make({.ranks = 5, .steps = 12, .noise = 0.1, .seed = seed});
    const auto section = efficiency_of(*run);
    ASSERT_TRUE(section);
    expect_product(section->run);
    EXPECT_EQ(section->steps.size(), 12U);
    for (const StepEfficiency& step : section->steps) expect_product(step.factors);
    EXPECT_EQ(std::accumulate(section->ledger.begin(), section->ledger.end(), std::int64_t{0}), section->whole_ns);
  }
}

}  // namespace
}  // namespace rankscope::analyzer
