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
  EXPECT_NE(found->evidence.find("no communication is hidden behind compute"), std::string::npos) << found->evidence;
}

TEST(Findings, ASlowLoaderOnAllRanksIsDataLoading) {
  const auto findings = findings_of(healthy([](StepPlan& step, std::uint32_t, std::int64_t) { step.data = 20; }));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "data_loading");
  EXPECT_EQ(findings[0].severity, FindingSeverity::major);
  EXPECT_NEAR(static_cast<double>(findings[0].gain_ns_per_step), 20e6, 1e6);
}

/// Two ranks, of which only the second waits for its data, and too briefly to be named as slow.
SyntheticRun one_waits_for_data(const std::string& head) {
  SyntheticRun plan =
      healthy([](StepPlan& step, std::uint32_t rank, std::int64_t) { step.data = rank == 1 ? 8.5 : 0.5; });
  plan.ranks = 2;
  plan.head = head;
  return plan;
}

TEST(Findings, WhatTheOnlyRankThatWaitsForDataSavesIsNotAMeanOfAllRanks) {
  const auto findings = findings_of(one_waits_for_data("@run clock=same_host clock_error=1000\n"));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "data_loading");
  EXPECT_EQ(findings[0].rank, RankId{1});
  EXPECT_NEAR(static_cast<double>(findings[0].gain_ns_per_step), 8.5e6, 0.7e6) << "the other rank waits for it";
}

/// Rank 2 is slow since it waits for its data; the others wait, too, but far less.
SyntheticRun slow_loader() {
  return healthy([](StepPlan& step, std::uint32_t rank, std::int64_t) { step.data = rank == 2 ? 60 : 8; });
}

TEST(Findings, TheOthersThatWaitForDataAreNotCountedWithTheSlowRank) {
  const Report report = analyze(*make(slow_loader()), {});
  ASSERT_EQ(report.stragglers->rows.front().rank, RankId{2});
  const auto found = std::ranges::find(*report.findings, "data_loading", &Finding::id);
  ASSERT_NE(found, report.findings->end());
  EXPECT_NE(found->rank, RankId{2}) << "it is named as slow";
  EXPECT_EQ(found->evidence.find(" -"), std::string::npos) << found->evidence << " has a negative time";
}

TEST(Findings, TheRanksAskedForSaveNoMoreThanTheyWait) {
  ReportOptions options;
  options.ranks = {RankId{0}, RankId{1}};
  const Report report = analyze(*make(slow_loader()), options);
  const auto found = std::ranges::find(*report.findings, "data_loading", &Finding::id);
  ASSERT_NE(found, report.findings->end());
  EXPECT_LE(found->gain_ns_per_step, 2 * 8'100'000) << "not what rank 2, which was not asked for, would save";
}

TEST(Findings, WithoutAReplayItIsNotKnownWhatDataLoadingCosts) {
  SyntheticRun apart = one_waits_for_data("@run clock=none\n@rank 0 host=a\n@rank 1 host=b\n");
  apart.steps = 10;  // with 20 operations that all wait for, their ends would set the clocks
  const Report report = analyze(*make(apart), {});
  ASSERT_FALSE(report.what_if);
  const auto found = std::ranges::find(*report.findings, "data_loading", &Finding::id);
  ASSERT_NE(found, report.findings->end());
  EXPECT_EQ(found->gain_ns_per_step, 0);
  EXPECT_EQ(found->why_no_gain, report.what_if.error().why);
}

TEST(Findings, NoGainOfCommunicationIsMoreThanTheReplayYields) {
  const Report report =
      analyze(*make(healthy([](StepPlan& step, std::uint32_t, std::int64_t) { step.transfer = 50; })), {});
  const auto found = std::ranges::find(*report.findings, "exposed_communication", &Finding::id);
  ASSERT_NE(found, report.findings->end());
  EXPECT_EQ(found->gain_ns_per_step, report.what_if->replayed_ns - *report.what_if->ideal_network_ns);
}

TEST(Findings, TimeInWhichOnlyCopiesRunIsOne) {
  std::string text = "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
  for (int step = 0; step < 6; ++step) {
    const int begin = step * 1'000'000;
    text += format("0 step {0} {1} step index={2} lane=main\n", begin, begin + 1'000'000, step);
    text +=
        format("0 memory {} {} \"Memcpy HtoD (Pageable -> Device)\" bytes=970000 lane=s7\n", begin, begin + 970'000);
    text += format("0 compute {} {} gemm lane=s7\n", begin + 970'000, begin + 1'000'000);
  }
  const Report report = analyze(*run_of(text), {});
  ASSERT_TRUE(report.findings);
  ASSERT_EQ(report.findings->size(), 1U);
  const Finding& finding = report.findings->front();
  EXPECT_EQ(finding.id, "exposed_copies");
  EXPECT_EQ(finding.severity, FindingSeverity::critical);
  EXPECT_EQ(finding.title, "97 % of the time, only copies run");
  EXPECT_NE(finding.evidence.find("HtoD (Pageable -> Device): 970 µs at 1.0 GB/s"), finding.evidence.npos)
      << finding.evidence;
  EXPECT_EQ(finding.gain_ns_per_step, 30'000) << "no more hides behind compute";
  EXPECT_FALSE(report.efficiency) << "nothing was communicated";
}

TEST(Findings, ALongStartUpWithoutStepsDoesNotHideCopies) {
  const Report report = analyze(*run_of("@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
                                        "0 runtime 0 9000000 cudaMalloc lane=main\n"
                                        "0 memory 9000000 9970000 \"Memcpy HtoD\" bytes=970000 lane=s7\n"
                                        "0 compute 9970000 10000000 gemm lane=s7\n"),
                                {});
  ASSERT_TRUE(report.findings);
  const auto found = std::ranges::find(*report.findings, "exposed_copies", &Finding::id);
  ASSERT_NE(found, report.findings->end());
  EXPECT_EQ(found->title, "97 % of the time between the first and the last device work, only copies run");
}

TEST(Findings, ThoseWhoUseGraphsAreNotToldTo) {
  std::string text = "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n";
  for (int step = 0; step < 6; ++step) {
    const int begin = step * 1'000'000;
    text += format("0 step {} {} step index={} lane=main\n", begin, begin + 1'000'000, step);
  }
  for (int step = 0; step < 6; ++step)
    text += format("0 runtime {} {} cudaGraphLaunch lane=main\n", step * 1'000'000, step * 1'000'000 + 800'000);
  for (int step = 0; step < 6; ++step)
    text += format("0 compute {} {} gemm lane=s7\n", step * 1'000'000 + 800'000, step * 1'000'000 + 1'000'000);
  for (int step = 0; step < 6; ++step) text += format("@link launch {} {}\n", 6 + step, 12 + step);
  const auto findings = analyze(*run_of(text), {}).findings.value_or(std::vector<Finding>{});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].id, "idle");
  EXPECT_EQ(findings[0].advice.find("CUDA graphs"), std::string::npos) << findings[0].advice;
  EXPECT_EQ(findings[0].advice.find("launches work too late"), std::string::npos) << findings[0].advice;
}

TEST(Findings, AHostThatStandsStillOnAllRanksIsIdle) {
  const auto findings = findings_of(healthy([](StepPlan& step, std::uint32_t, std::int64_t) { step.stall = 40; }));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "idle");
  EXPECT_NE(findings[0].evidence.find(" during which the host ran nothing that was recorded"), std::string::npos)
      << findings[0].evidence;
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

TEST(Findings, ThreeOddStepsAreNoRotatingImbalance) {
  SyntheticRun plan = healthy([](StepPlan& step, std::uint32_t rank, std::int64_t index) {
    if (index == 10 && rank < 4) step.forward += 300;
    if (index == 30 && (rank == 3 || rank == 5 || rank == 6)) step.forward += 150;
    if (index == 50 && (rank == 3 || rank == 7)) step.forward += 150;
  });
  plan.ranks = 8;
  plan.steps = 60;
  plan.noise = 0.01;
  const Report report = analyze(*make(plan), {});
  EXPECT_EQ(std::ranges::find(*report.findings, "imbalance.rotating", &Finding::id), report.findings->end());
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
