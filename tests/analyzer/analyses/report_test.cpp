// analyze() on runs that lack something.
#include "rankscope/analyzer/report.h"

#include <gtest/gtest.h>

#include "analyzer/analyses/synthetic_run.h"

namespace rankscope::analyzer {
namespace {

using testing::make;
using testing::run_of;
using testing::SyntheticRun;

std::vector<std::string> ids(const Report& report) {
  std::vector<std::string> all;
  if (report.findings) {
    for (const Finding& finding : *report.findings) all.push_back(finding.id);
  }
  return all;
}

TEST(Report, WindowsOfEveryRankAddUpAndEverythingIsMatched) {
  const Report report = analyze(*make({}), {});
  ASSERT_TRUE(report.rank_rows);
  for (const RankRow& row : *report.rank_rows) {
    const TimeSplit& total = row.total;
    EXPECT_EQ(total.compute_ns + total.exposed_comm_ns + total.memory_ns + total.idle_ns, total.window_ns);
    EXPECT_EQ(total.wait_ns + total.transfer_ns + total.unsplit_ns, total.comm_ns);
    EXPECT_EQ(row.per_step.size(), 20U);
  }
  EXPECT_EQ(report.collectives->matched, 160);
  EXPECT_EQ(report.collectives->unmatched, 0);
  EXPECT_TRUE(report.data_quality.empty());
}

TEST(Report, WhatWasInjectedIsNeverShown) {
  const auto run = run_of(
      "@run meta.model=mlp meta.injected_faults=slow:rank=2 meta.command=\"train --fault slow:rank=2 --steps 9\"\n"
      "@rank 0 meta.pace_ms=40 meta.injected_faults=slow:rank=2\n"
      "0 op 0 10 op\n");
  const Report report = analyze(*run, {});
  EXPECT_EQ(report.facts, (std::vector<std::pair<std::string, std::string>>{
                              {"command", "train --steps 9"}, {"model", "mlp"}, {"pace_ms", "40"}}));
}

TEST(Report, OverrunsOfThePaceAreAQualityRow) {
  const Report report = analyze(*run_of("@rank 0 meta.pace_overruns=3\n0 op 0 10 op\n"
                                        "@rank 1 meta.pace_overruns=4\n1 op 0 10 op\n"),
                                {});
  ASSERT_EQ(report.data_quality.size(), 1U);
  EXPECT_EQ(report.data_quality[0].counter, Counter::pace_overruns);
  EXPECT_EQ(report.data_quality[0].value, 7U);
}

TEST(Report, WithoutStepsTheWholeRecordingIsSplit) {
  const Report report = analyze(*run_of("0 op 0 60 op\n0 data 60 100 data\n"), {});
  EXPECT_FALSE(report.steps);
  ASSERT_TRUE(report.rank_rows);
  EXPECT_EQ(report.rank_rows->at(0).total.window_ns, 100);
  EXPECT_EQ(report.rank_rows->at(0).total.compute_ns, 60);
  EXPECT_TRUE(report.rank_rows->at(0).per_step.empty());
  EXPECT_TRUE(ids(report).empty());
}

TEST(Report, WithoutCollectivesTheRestStands) {
  const Report report = analyze(*run_of("@run clock=same_host\n0 step 0 100 step index=0\n0 op 0 95 op\n"
                                        "1 step 0 100 step index=0\n1 op 0 95 op\n"),
                                {});
  EXPECT_FALSE(report.collectives);
  EXPECT_TRUE(report.rank_rows);
  EXPECT_FALSE(report.rank_rows->at(0).overlap_ratio.value);
  EXPECT_EQ(report.rank_rows->at(0).overlap_ratio.why, "no communication");
  EXPECT_TRUE(report.stragglers) << "few steps, but peers";
}

TEST(Report, HostSamplesAloneAreStillAReport) {
  const Report report =
      analyze(*run_of("@rank 0 host=n0 program=python3\n0 counter 0 50 cpu_percent\n0 counter 9 1024 rss_bytes\n"), {});
  EXPECT_FALSE(anything_computed(report));
  EXPECT_EQ(report.rank_facts.at(0).cpu_percent, 50);
  EXPECT_EQ(report.rank_facts.at(0).peak_rss_bytes, 1024);
  EXPECT_NE(report.rank_rows.error().why.find("tells compute from communication"), std::string::npos);
}

TEST(Report, NoComputeIsNoProblem) {
  const Report report = analyze(*run_of("0 step 0 100 step index=0\n0 data 0 100 data\n"), {});
  EXPECT_EQ(report.rank_rows->at(0).compute.value, 0);
  EXPECT_EQ(ids(report), std::vector<std::string>{"data_loading"});
}

TEST(Report, RanksZeroAndTwoOfThree) {
  const Report report = analyze(*run_of("@run clock=same_host world_size=3\n@group dp 0,1,2\n"
                                        "0 step 0 100 step index=0\n0 op 0 50 op\n0 comm 50 90 allreduce group=dp\n"
                                        "2 step 0 100 step index=0\n2 op 0 50 op\n2 comm 60 90 allreduce group=dp\n"),
                                {});
  EXPECT_EQ(report.world_size, 3);
  EXPECT_EQ(report.collectives->partial, 1);
  ASSERT_FALSE(report.data_quality.empty());
  EXPECT_EQ(report.data_quality[0].counter, Counter::ranks_missing);
}

TEST(Report, HostsWithoutACommonClockStillHaveStragglers) {
  SyntheticRun plan;
  plan.head = "@rank 0 host=a\n@rank 1 host=b\n@rank 2 host=c\n@rank 3 host=d\n";
  plan.fault = [](testing::StepPlan& step, std::uint32_t rank, std::int64_t) { step.forward *= rank == 2 ? 2 : 1; };
  const Report report = analyze(*make(plan), {});
  EXPECT_TRUE(report.steps->clocks_refused);
  ASSERT_EQ(report.stragglers->rows.size(), 1U) << "own time needs no common clock";
  EXPECT_EQ(report.stragglers->rows[0].rank, RankId{2});
}

TEST(Report, OnlyTheRanksAskedForAreShown) {
  ReportOptions options;
  options.ranks = {RankId{1}, RankId{3}};
  const Report report = analyze(*make({}), options);
  ASSERT_EQ(report.rank_rows->size(), 2U);
  EXPECT_EQ(report.rank_rows->at(1).rank, RankId{3});
  EXPECT_EQ(report.collectives->matched, 160) << "matching still sees all";
}

TEST(Report, ASlowRankIsAFindingWithAdviceAndGain) {
  SyntheticRun plan;
  plan.fault = [](testing::StepPlan& step, std::uint32_t rank, std::int64_t) { step.backward *= rank == 2 ? 1.5 : 1; };
  const Report report = analyze(*make(plan), {});
  ASSERT_FALSE(report.findings->empty());
  const Finding& worst = report.findings->front();
  EXPECT_EQ(worst.id, "straggler.compute");
  EXPECT_EQ(worst.rank, RankId{2});
  EXPECT_NEAR(static_cast<double>(worst.gain_ns_per_step), 30e6, 2e6);
  EXPECT_FALSE(worst.advice.empty());
}

TEST(Report, TheRegistryIsInTheOrderOfTheReport) {
  std::vector<std::string_view> order;
  for (const AnalysisInfo& info : analyses()) order.push_back(info.id);
  EXPECT_EQ(order, (std::vector<std::string_view>{"steps", "collectives", "ranks", "stragglers", "findings"}));
}

}  // namespace
}  // namespace rankscope::analyzer
