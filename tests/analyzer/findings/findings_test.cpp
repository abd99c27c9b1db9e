#include <gtest/gtest.h>

#include <algorithm>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using testing::make;
using testing::run_of;
using testing::StepPlan;
using testing::SyntheticRun;

std::vector<Finding> findings_of(const SyntheticRun& plan) {
  return analyze(*make(plan), {}).findings.value_or(std::vector<Finding>{});
}

/// Little data loading, and transfers that mostly hide behind backward.
SyntheticRun healthy(const std::function<void(StepPlan&, std::uint32_t, std::int64_t)>& change = {}) {
  SyntheticRun plan;
  plan.fault = [change](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    step.data = 0.5;
    step.transfer = 2;
    if (change) change(step, rank, index);
  };
  return plan;
}

TEST(Findings, AHealthyRunHasNone) {
  const std::vector<Finding> findings = findings_of(healthy());
  EXPECT_TRUE(findings.empty()) << findings[0].evidence;
}

TEST(Findings, LongTransfersAreExposedCommunication) {
  const auto findings = findings_of(healthy([](StepPlan& step, std::uint32_t, std::int64_t) { step.transfer = 50; }));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "exposed_communication");
  EXPECT_EQ(findings[0].severity, FindingSeverity::critical);
  EXPECT_GT(findings[0].gain_ns_per_step, 0);
  EXPECT_NE(findings[0].advice.find("Overlap"), std::string::npos);
}

TEST(Findings, WhatIsNotHiddenAtAllIsNotSaidAsANumber) {
  std::string text = "@run clock=same_host\n@group dp 0,1\n";
  for (const int rank : {0, 1})
    for (int step = 0; step < 6; ++step)
      text += format("{0} step {1} {2} step index={3}\n{0} op {1} {4} op\n{0} comm {4} {2} allreduce group=dp\n", rank,
                     step * 1'000'000, (step + 1) * 1'000'000, step, step * 1'000'000 + 400'000);
  const Report report = analyze(*run_of(text), {});
  const auto found = std::ranges::find(*report.findings, "exposed_communication", &Finding::id);
  ASSERT_NE(found, report.findings->end());
  EXPECT_NE(found->evidence.find("nothing is hidden behind compute"), std::string::npos) << found->evidence;
}

TEST(Findings, ASlowLoaderOnAllRanksIsDataLoading) {
  const auto findings = findings_of(healthy([](StepPlan& step, std::uint32_t, std::int64_t) { step.data = 20; }));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "data_loading");
  EXPECT_EQ(findings[0].severity, FindingSeverity::major);
  EXPECT_NEAR(static_cast<double>(findings[0].gain_ns_per_step), 20e6, 1e6);
}

TEST(Findings, AHostThatStandsStillOnAllRanksIsIdle) {
  const auto findings = findings_of(healthy([](StepPlan& step, std::uint32_t, std::int64_t) { step.stall = 40; }));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "idle");
  EXPECT_NE(findings[0].evidence.find(" for the host"), std::string::npos) << findings[0].evidence;
}

TEST(Findings, TheLoaderOfOneRankIsSaidOnce) {
  const auto findings =
      findings_of(healthy([](StepPlan& step, std::uint32_t rank, std::int64_t) { step.data += rank == 1 ? 30 : 0; }));
  ASSERT_EQ(findings.size(), 1U) << "that the others wait for it is no finding of its own";
  EXPECT_EQ(findings[0].id, "straggler.data");
}

TEST(Findings, AnotherSlowRankInEveryStepIsRotatingImbalance) {
  SyntheticRun plan = healthy([](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    if ((index * 7 + index / 4) % 4 == rank) step.forward *= 1.6;
  });
  plan.steps = 60;
  const Report report = analyze(*make(plan), {});
  EXPECT_TRUE(report.stragglers->rows.empty());
  const bool found = std::ranges::find(*report.findings, "imbalance.rotating", &Finding::id) != report.findings->end();
  EXPECT_TRUE(found);
}

TEST(Findings, DesyncNamesGroupAndOperation) {
  const Report report = analyze(*run_of("@run clock=same_host\n@group dp 0,1\n"
                                        "0 comm 0 10 allreduce group=dp\n1 comm 0 10 broadcast group=dp\n"),
                                {});
  ASSERT_EQ(report.findings->size(), 1U);
  EXPECT_EQ(report.findings->at(0).id, "desync");
  EXPECT_EQ(report.findings->at(0).severity, FindingSeverity::major);
  EXPECT_EQ(report.findings->at(0).title, "the ranks of group dp disagree about operation 0");
}

}  // namespace
}  // namespace rankscope::analyzer
