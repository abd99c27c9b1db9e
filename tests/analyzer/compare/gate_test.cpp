#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/compare/compared_runs.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/analyzer/compare/render_comparison.h"

namespace rankscope::analyzer {
namespace {

using testing::compare_runs;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::make;
using testing::StepPlan;

/// Rank 1 stalls in each fourth step: the others wait for it.
std::shared_ptr<const Run> stalling_run(std::uint64_t seed) {
  return make({.steps = 24, .seed = seed, .fault = [](StepPlan& plan, std::uint32_t rank, std::int64_t step) {
                 if (rank == 1 && step % 4 == 2) plan.stall = 280;
               }});
}

TEST(Compare, AStallInEachFourthStepIsSlowerOnAverage) {
  const Comparison found = compare_runs(*make({.steps = 24}), *stalling_run(2));
  EXPECT_EQ(found.steps.verdict, StepVerdict::slower);
  EXPECT_EQ(found.steps.judged_by, StepMeasure::mean);
  EXPECT_EQ(found.steps.severity, FindingSeverity::critical);
  EXPECT_LT(std::abs(*found.steps.change), 0.01);
  ASSERT_TRUE(found.steps.mean);
  EXPECT_GT(found.steps.mean->change, 0.5);
  const std::string text = render_text({found, std::nullopt}, Colour::no);
  EXPECT_THAT(text, ContainsRegex("B is [0-9.]+ % slower than A on average"));
  EXPECT_THAT(text, HasSubstr("The mean step takes "));
  EXPECT_THAT(text, HasSubstr("The median step takes "));
}

TEST(Compare, ARunWithoutTheStallsOfTheOtherIsFasterOnAverage) {
  const Comparison found = compare_runs(*stalling_run(2), *make({.steps = 24}));
  EXPECT_EQ(found.steps.verdict, StepVerdict::faster);
  EXPECT_EQ(found.steps.judged_by, StepMeasure::mean);
}

TEST(Gate, FailsAStallInEachFourthStep) {
  const Comparison found = compare_runs(*make({.steps = 24}), *stalling_run(2));
  const Gate gate = judge(found, 0.03, Likes::must_agree);
  EXPECT_EQ(gate.verdict, GateVerdict::fail);
  EXPECT_THAT(render_text({found, gate}, Colour::no),
              ContainsRegex("FAIL: the mean step of the run is [0-9.]+ % longer than that of the[ \n]+baseline"));
}

Comparison with_change(double change, double low, double high) {
  Comparison comparison;
  comparison.steps = {StepVerdict::slower, {}, change, low, high, FindingSeverity::minor};
  return comparison;
}

GateVerdict verdict_of(double change, double low, double high, double limit = 0.03) {
  return judge(with_change(change, low, high), limit, Likes::must_agree).verdict;
}

TEST(Gate, FailsOnlyAboveTheLimitAndBeyondChance) {
  EXPECT_EQ(verdict_of(0.05, 0.01, 0.08), GateVerdict::fail);
  EXPECT_EQ(verdict_of(0.05, -0.01, 0.12), GateVerdict::cannot_tell) << "it may be chance";
  EXPECT_EQ(verdict_of(0.02, 0.01, 0.04), GateVerdict::pass) << "slower, but by less than the limit";
}

Gate judged_by_mean(MeasureChange mean, double limit = 0.03) {
  Comparison comparison = with_change(0.001, -0.01, 0.01);
  comparison.steps.mean = mean;
  return judge(comparison, limit, Likes::must_agree);
}

TEST(Gate, FailsIfTheMeanStepBecameLongerAndTheMedianStepDidNot) {
  const Gate gate = judged_by_mean({0.66, 0.20, 0.90});
  EXPECT_EQ(gate.verdict, GateVerdict::fail);
  EXPECT_EQ(gate.judged_by, StepMeasure::mean);
}

TEST(Gate, DoesNotPassAMeanStepFarAboveTheLimitThatMayBeDueToOneLongStep) {
  const Gate gate = judged_by_mean({0.20, -0.05, 0.50});
  EXPECT_EQ(gate.verdict, GateVerdict::cannot_tell);
  EXPECT_EQ(gate.judged_by, StepMeasure::mean);
  EXPECT_THAT(gate.why, HasSubstr("may be due to a few long steps"));
}

TEST(Gate, AMeanStepLittleAboveTheLimitByChanceAloneIsNoRegression) {
  EXPECT_EQ(judged_by_mean({0.05, -0.01, 0.20}).verdict, GateVerdict::pass) << "below twice the limit";
  EXPECT_EQ(judged_by_mean({0.05, 0.01, 0.20}).verdict, GateVerdict::fail) << "no chance";
  EXPECT_EQ(judged_by_mean({0.02, 0.01, 0.03}).verdict, GateVerdict::pass) << "below the limit";
}

TEST(Gate, AFailureOfTheMedianStaysOneWhateverTheMeanSays) {
  Comparison comparison = with_change(0.05, 0.01, 0.08);
  comparison.steps.mean = MeasureChange{-0.10, -0.20, 0.10};
  const Gate gate = judge(comparison, 0.03, Likes::must_agree);
  EXPECT_EQ(gate.verdict, GateVerdict::fail);
  EXPECT_EQ(gate.judged_by, StepMeasure::median);
}

TEST(Gate, PassesOnlyIfTheIntervalEndsBelowTwiceTheLimit) {
  EXPECT_EQ(verdict_of(0.00, -0.02, 0.06), GateVerdict::pass);
  EXPECT_EQ(verdict_of(0.00, -0.02, 0.07), GateVerdict::cannot_tell);
  EXPECT_EQ(verdict_of(0.00, -0.01, 0.01, 0), GateVerdict::pass) << "a limit of 0 leaves room for 1 %";
  EXPECT_EQ(verdict_of(0.00, -0.01, 0.02, 0), GateVerdict::cannot_tell);
}

TEST(Gate, AnotherJobIsNotJudgedUnlessAskedFor) {
  Comparison comparison = with_change(0, -0.01, 0.01);
  comparison.likeness.differences = {{"world size", "4", "8", true}, {"host", "n0", "n1", false}};
  const Gate gate = judge(comparison, 0.03, Likes::must_agree);
  EXPECT_EQ(gate.verdict, GateVerdict::cannot_tell);
  EXPECT_THAT(gate.why, HasSubstr("world size 4 against 8"));
  EXPECT_EQ(judge(comparison, 0.03, Likes::may_differ).verdict, GateVerdict::pass);
  comparison.likeness.differences.erase(comparison.likeness.differences.begin());
  EXPECT_EQ(judge(comparison, 0.03, Likes::must_agree).verdict, GateVerdict::pass) << "another host is the same job";
}

TEST(Gate, WhatCannotBeComparedCannotBeJudged) {
  Comparison comparison;
  comparison.steps.why = "the run has 5 counted steps, but 10 are needed to distinguish a change from chance";
  const Gate gate = judge(comparison, 0.03, Likes::must_agree);
  EXPECT_EQ(gate.verdict, GateVerdict::cannot_tell);
  EXPECT_EQ(gate.why, comparison.steps.why);
}

}  // namespace
}  // namespace rankscope::analyzer
