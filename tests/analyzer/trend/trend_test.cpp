#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/synthetic_run.h"
#include "math/change_points.h"
#include "rankscope/analyzer/report.h"
#include "trend/parts.h"

namespace rankscope::analyzer {
namespace {

using testing::make;
using testing::StepPlan;
using testing::SyntheticRun;

/// `levels` of `each` values, with a deterministic ripple of ± 1 %.
std::vector<std::int64_t> levels(std::initializer_list<std::int64_t> heights, std::size_t each) {
  std::vector<std::int64_t> values;
  for (const std::int64_t height : heights)
    for (std::size_t i = 0; i < each; ++i)
      values.push_back(height + height / 100 * (static_cast<std::int64_t>(i * 7 % 5) - 2) / 2);
  return values;
}

TEST(ChangePoints, AreWhereTheLevelChanges) {
  EXPECT_EQ(change_points(levels({100'000, 150'000}, 30)), (std::vector<std::size_t>{30}));
  EXPECT_EQ(change_points(levels({100'000, 150'000, 90'000}, 30)), (std::vector<std::size_t>{30, 60}));
}

TEST(ChangePoints, SmallOnesAreNone) {
  EXPECT_TRUE(change_points(levels({100'000, 102'000}, 50)).empty()) << "2 %";
  EXPECT_TRUE(change_points(levels({100'000, 104'000}, 50)).empty()) << "4 %";
  EXPECT_FALSE(change_points(levels({100'000, 107'000}, 50)).empty()) << "7 %";
}

TEST(ChangePoints, AreNotLookedForInFewValues) { EXPECT_TRUE(change_points(levels({100, 300}, 9)).empty()); }

TEST(ChangePoints, OneLongValueIsNoLevel) {
  auto values = levels({100'000}, 60);
  values[40] *= 10;
  EXPECT_TRUE(change_points(values).empty());
}

TEST(ChangePoints, OfALongSeriesAreFoundInBlocks) {
  const auto found = change_points(levels({100'000, 130'000}, 50'000));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(static_cast<double>(found[0]), 50'000, 100);
}

TEST(ChangePoints, HostileValuesAreNoTrouble) {
  EXPECT_TRUE(change_points(std::vector<std::int64_t>(100, 0)).empty());
  EXPECT_TRUE(change_points(std::vector<std::int64_t>(100, INT64_MAX)).empty());
  std::vector<std::int64_t> wild(100, 1);
  std::fill(wild.begin() + 50, wild.end(), INT64_MAX);
  EXPECT_EQ(change_points(wild), (std::vector<std::size_t>{50}));
}

/// Some ranks of four need twice the compute from step 60 of 100 on.
SyntheticRun slower_from_60(std::uint32_t slow_ranks) {
  SyntheticRun plan;
  plan.steps = 100;
  plan.fault = [slow_ranks](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    if (rank < slow_ranks && index >= 60) step.forward *= 2, step.backward *= 2;
  };
  return plan;
}

const Finding* change_in(const Report& report) {
  for (const Finding& finding : *report.findings)
    if (finding.id == "step_time.change") return &finding;
  return nullptr;
}

TEST(Trend, StepsThatBecomeLongerOnSeveralRanksAreAFindingThatNamesThem) {
  for (const std::uint32_t slow_ranks : {2U, 4U}) {
    const Report report = analyze(*make(slower_from_60(slow_ranks)), {});
    const Finding* const finding = change_in(report);
    ASSERT_NE(finding, nullptr) << slow_ranks;
    EXPECT_EQ(finding->step, 60);
    EXPECT_EQ(finding->severity, FindingSeverity::critical);
    ASSERT_EQ(report.trend->changes.size(), 1U);
    const StepChange& change = report.trend->changes.front();
    EXPECT_TRUE(change.lasts);
    ASSERT_EQ(change.ranks.size(), slow_ranks);
    for (const GrownPart& part : change.ranks) EXPECT_EQ(part.kind, StragglerKind::compute);
    EXPECT_NE(finding->evidence.find(slow_ranks == 2 ? "ranks 0, 1: own time 190 ms instead of 100 ms (mainly compute)"
                                                     : "ranks 0–3: own time 190 ms instead of 100 ms (mainly compute)"),
              std::string::npos)
        << finding->evidence;
    EXPECT_NEAR(static_cast<double>(finding->gain_ns_per_step),
                static_cast<double>(change.after_ns - change.before_ns) * 0.4, 1.0);
  }
}

/// All ranks need `levels[index / 30]` times the compute.
Report report_of_levels(const std::vector<double>& levels) {
  SyntheticRun plan;
  plan.steps = static_cast<std::int64_t>(levels.size()) * 30;
  plan.fault = [levels](StepPlan& step, std::uint32_t, std::int64_t index) {
    const double level = levels[static_cast<std::size_t>(index / 30)];
    step.forward *= level, step.backward *= level;
  };
  return analyze(*make(plan), {});
}

TEST(Trend, PartOfTheWayBackUndoesNoSlowDown) {
  const Report report = report_of_levels({1, 2, 1.5});
  ASSERT_EQ(report.trend->changes.size(), 2U);
  const Finding* const finding = change_in(report);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->step, 30);
  EXPECT_THAT(finding->title, ::testing::HasSubstr("times as long as before; at the end, still "));
  EXPECT_THAT(finding->evidence, ::testing::HasSubstr(" since then, "));
  EXPECT_EQ(finding->severity, FindingSeverity::critical);
  const StepChange& first = report.trend->changes.front();
  const std::int64_t last_ns = report.trend->changes.back().after_ns;
  EXPECT_NEAR(static_cast<double>(finding->gain_ns_per_step),
              static_cast<double>(first.after_ns - first.before_ns + last_ns - first.before_ns) / 3, 2.0);
}

TEST(Trend, WhatIsUndoneIsNoFindingAndWhatFollowsIsItsOwn) {
  EXPECT_EQ(change_in(report_of_levels({1, 2, 1})), nullptr);
  const Report again = report_of_levels({1, 2, 1, 1.5});
  ASSERT_NE(change_in(again), nullptr);
  EXPECT_EQ(change_in(again)->step, 90);
}

TEST(Trend, ALateSlowRankIsSaidOnce) {
  const Report report = analyze(*make(slower_from_60(1)), {});
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(change_in(report), nullptr);
  EXPECT_EQ(report.trend->changes.size(), 1U) << "the section has it all the same";
}

TEST(Trend, ASteadyRunHasNoChangeAndNoOddStep) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    for (const double noise : {0.005, 0.02, 0.1}) {
      const Report report = analyze(*make({.steps = 100, .noise = noise, .seed = seed}), {});
      EXPECT_TRUE(report.trend->changes.empty()) << seed << ' ' << noise;
      EXPECT_LE(report.trend->odd_steps.size(), 1U) << seed << ' ' << noise;
    }
}

TEST(Trend, AStepThatStandsOutIsNamedWithItsCause) {
  SyntheticRun plan;
  plan.steps = 40;
  plan.fault = [](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    if (rank == 2 && index == 17) step.data = 80;
    if (index == 30) step.transfer = 90;
  };
  const Report report = analyze(*make(plan), {});
  ASSERT_EQ(report.trend->odd_steps.size(), 2U);
  const OddStep& data = report.trend->odd_steps[0];
  EXPECT_EQ(data.step, 17);
  ASSERT_EQ(data.ranks.size(), 1U);
  EXPECT_EQ(data.ranks[0].rank, RankId{2});
  EXPECT_EQ(data.ranks[0].kind, StragglerKind::data);
  EXPECT_NEAR(static_cast<double>(data.excess_ns), 75e6, 5e6);
  const OddStep& comm = report.trend->odd_steps[1];
  EXPECT_EQ(comm.step, 30);
  EXPECT_TRUE(comm.ranks.empty());
  EXPECT_NE(odd_text(comm).find("the difference is in communication"), std::string::npos);
}

TEST(Trend, ARankWithoutStepMarksIsLeftOut) {
  std::string text = "@run clock=same_host\n@rank 0 pid=1 host=n0\n@rank 1 pid=2 host=n0\n0 op 0 3200 eager\n";
  for (int step = 0; step < 32; ++step) {
    const std::string begin = std::to_string(step * 100);
    text += "1 step " + begin + " " + std::to_string(step * 100 + 100) + " step index=" + std::to_string(step) + "\n";
    text += "1 op " + begin + " " + std::to_string(step * 100 + 90) + " work\n";
  }
  const Report report = analyze(*testing::run_of(text), {});
  ASSERT_TRUE(report.rank_rows);
  EXPECT_TRUE(report.rank_rows->front().per_step.empty());
  ASSERT_TRUE(report.trend) << report.trend.error().why;
  EXPECT_TRUE(report.trend->changes.empty());
}

TEST(Trend, FewStepsSayThatChangesAreNotTold) {
  const Report report = analyze(*make({.steps = 12}), {});
  EXPECT_EQ(report.trend->why_no_changes, "12 steps: too few to look for changes (20 are needed)");
}

TEST(Trend, AShortFastStretchIsNotWhatStepsTookBefore) {
  SyntheticRun plan;
  plan.steps = 312;
  plan.noise = 0.01;
  plan.fault = [](StepPlan& step, std::uint32_t, std::int64_t index) {
    const double level = index < 200 ? 1 : index < 212 ? 0.6 : 1.1;
    step.forward *= level, step.backward *= level;
  };
  const Report report = analyze(*make(plan), {});
  const Finding* const finding = change_in(report);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->step, 212);
  EXPECT_THAT(finding->title, ::testing::HasSubstr("take 1.08 times as long"));
  EXPECT_THAT(finding->evidence, ::testing::StartsWith("steps took 109 ms before, but "));
  EXPECT_LE(finding->severity, FindingSeverity::minor);
  EXPECT_LT(finding->gain_ns_per_step, 4'000'000) << "9 ms in each of the last 100 steps";
}

}  // namespace
}  // namespace rankscope::analyzer
