// analyze() on runs that lack something.
#include "rankscope/analyzer/report.h"

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include <algorithm>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "sections.h"

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

TEST(Report, ShowsTheCommandWithItsFaultsAndNotWhatTestsNoteOfThem) {
  const auto run = run_of(
      "@run meta.model=mlp meta.injected_faults=slow:rank=2 meta.command=\"train --fault slow:rank=2 --steps 9\"\n"
      "@rank 0 meta.pace_ms=40 meta.injected_faults=slow:rank=2\n"
      "0 op 0 10 op\n");
  const Report report = analyze(*run, {});
  EXPECT_EQ(report.facts,
            (std::vector<std::pair<std::string, std::string>>{
                {"command", "train --fault slow:rank=2 --steps 9"}, {"model", "mlp"}, {"pace_ms", "40"}}));
}

TEST(Report, ACommandToExportAgainIsNoFactOfTheRun) {
  const auto run =
      run_of("@run meta.nsys.export_with_payloads=\"nsys export x\" meta.nsys.schema=3.25.0\n0 op 0 10 op\n");
  EXPECT_EQ(analyze(*run, {}).facts, (std::vector<std::pair<std::string, std::string>>{{"nsys.schema", "3.25.0"}}));
}

TEST(Report, LaunchesAloneAreSomethingThatWasComputed) {
  Report report;
  EXPECT_FALSE(anything_computed(report, {}));
  report.launches = LaunchesSection{};
  EXPECT_TRUE(anything_computed(report, {}));
}

TEST(Report, OverrunsOfThePaceAreAQualityRow) {
  const Report report = analyze(*run_of("@run meta.pace_overruns=3\n@rank 0 meta.pace_overruns=3\n0 op 0 10 op\n"
                                        "@rank 1 meta.pace_overruns=4\n1 op 0 10 op\n"),
                                {});
  ASSERT_EQ(report.data_quality.size(), 1U);
  EXPECT_TRUE(report.facts.empty()) << "that of one rank beside the sum of all would only confuse";
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
  EXPECT_EQ(report.rank_rows->at(0).overlap_ratio.why, report.why_not_compared);
  EXPECT_FALSE(report.stragglers) << "waiting cannot be told from work";
}

TEST(Report, CountersOfTheGpuAreAveragedOverTheWindows) {
  const auto sampled = [](std::string_view more) {
    return analyze(*run_of("0 compute 0 100 gemm\n" + std::string{more}), {}).rank_rows->at(0).sm_active;
  };
  const Ratio mean = sampled(
      "0 counter 0 40 \"GPU 0 sm_active_percent\"\n"
      "0 counter 50 80 \"GPU 0 sm_active_percent\"\n"
      "0 counter 60 7 \"GPU 0 tensor_active_percent\"\n");
  ASSERT_TRUE(mean.value);
  EXPECT_DOUBLE_EQ(*mean.value, 0.6);
  EXPECT_EQ(sampled("").why, "not sampled");
}

TEST(Report, CountersOfTheGpuOutsideOfTheStepsAreLeftOut) {
  std::string text = "0 counter 5 100 \"GPU 0 sm_active_percent\"\n";
  for (int step = 1; step <= 4; ++step)
    text += format(
        "0 step {0}00 {0}90 step index={1}\n0 compute {0}10 {0}80 gemm\n0 counter {0}20 50 \"GPU 0 "
        "sm_active_percent\"\n",
        step, step - 1);
  const Report report = analyze(*run_of(text), {});
  ASSERT_TRUE(report.rank_rows->at(0).sm_active.value);
  EXPECT_DOUBLE_EQ(*report.rank_rows->at(0).sm_active.value, 0.5);
}

TEST(Report, SizesOfProcessesAloneAreAResultOnlyForThoseWhoAskForThem) {
  Report report;
  report.memory = MemorySection{};
  EXPECT_FALSE(anything_computed(report, {}));
  ReportOptions options;
  options.only = {"memory"};
  EXPECT_TRUE(anything_computed(report, options));
  report.memory->devices.resize(1);
  EXPECT_TRUE(anything_computed(report, {}));
}

TEST(Report, NobodyMissesWhatOneRankCannotHave) {
  Report report;
  report.ranks = {RankId{0}};
  EXPECT_EQ(why_missing(report, "blame"), "not computed");
  EXPECT_EQ(why_missed(report, "blame"), "");
  report.ranks.push_back(RankId{1});
  EXPECT_EQ(why_missed(report, "blame"), "not computed");
  EXPECT_EQ(why_missing(report, "hta"), "--hta-compat was not given");
  EXPECT_EQ(why_missed(report, "hta"), "");
}

TEST(Report, MissesFlopOfAcceleratorsThatAreNotKnown) {
  Report report;
  report.flops = FlopsSection{};
  report.flops->why_no_flops = "no inputs were recorded";
  report.flops->ranks.resize(1);
  EXPECT_EQ(why_missed(report, "flops"), "") << "of a CPU";
  report.flops->ranks.front().accelerator = true;
  EXPECT_EQ(why_missed(report, "flops"), "no inputs were recorded");
  EXPECT_EQ(why_missing(report, "flops"), "");
}

TEST(Report, GivesAReasonForEachSectionThatIsMissing) {
  const Report report = analyze(*run_of("0 op 0 10 op\n"), {});
  for (const SectionRow& row : section_rows()) {
    EXPECT_EQ(row.absence == nullptr, row.question.empty())
        << row.id << " can be asked for, so it says why it is missing";
    const auto absence = row.absence == nullptr ? std::nullopt : row.absence(report);
    EXPECT_FALSE(absence && absence->why.empty()) << row.id;
  }
}

TEST(Report, HostSamplesAloneAreStillAReport) {
  const Report report =
      analyze(*run_of("@rank 0 host=n0 program=python3\n0 counter 0 50 cpu_percent\n0 counter 9 1024 rss_bytes\n"), {});
  EXPECT_FALSE(anything_computed(report, {}));
  EXPECT_EQ(report.rank_facts.at(0).cpu_percent, 50);
  EXPECT_EQ(report.rank_facts.at(0).peak_rss_bytes, 1024);
  EXPECT_NE(report.rank_rows.error().why.find("separates compute from communication"), std::string::npos);
}

TEST(Report, RanksOfDifferentJobsAreNotCompared) {
  const Report report = analyze(*run_of("@run source=kineto\n@quality jobs_mixed 1 \"b.json is of another job\"\n"
                                        "0 step 0 100 step index=1\n0 op 0 60 op\n"
                                        "1 step 0 100 step index=1\n1 op 0 90 op\n"),
                                {});
  const std::string why = "the files are from different jobs: b.json is of another job";
  EXPECT_EQ(report.steps.error().why, why);
  EXPECT_EQ(report.collectives.error().why, why);
  EXPECT_EQ(report.stragglers.error().why, why);
  EXPECT_EQ(report.findings.error().why, why);
  ASSERT_TRUE(report.rank_rows) << "each rank alone is still told";
  EXPECT_EQ(report.rank_rows->at(1).total.compute_ns, 90);
}

TEST(Report, SegmentsOfDifferentJobsInOneFolderAreNotComparedEither) {
  const auto recorded = [](std::string_view of_rank_1) {
    return analyze(*run_of(format("@run source=rankscope clock=same_host\n@rank 0 host=n1 recorded=0:5000000000\n"
                                  "@rank 1 host=n1 recorded={}\n"
                                  "0 step 0 100 step index=1\n0 op 0 60 op\n0 comm 60 100 allreduce seq=1\n"
                                  "1 step 0 100 step index=1\n1 op 0 90 op\n1 comm 90 100 allreduce seq=1\n",
                                  of_rank_1)),
                   {});
  };
  const Report report = recorded("9000000000:9900000000");
  EXPECT_EQ(report.stragglers.error().why,
            "the recordings are from different jobs: on host n1, rank 0 ended 4.00 s before rank 1 began");
  EXPECT_EQ(std::ranges::count(report.data_quality, Counter::jobs_mixed, &QualityRow::counter), 1);
  EXPECT_EQ(
      std::ranges::count(recorded("4000000000:9900000000").data_quality, Counter::jobs_mixed, &QualityRow::counter), 0);
}

TEST(Report, TracesWithNothingInCommonAreOfDifferentJobs) {
  const auto mixed = [&](const std::string& head) {
    const Report report = analyze(*run_of("@rank 0 recorded=0:100\n@rank 1 recorded=500:600\n" + head +
                                          "0 step 0 100 step index=1\n0 op 0 60 op\n"
                                          "1 step 500 600 step index=7\n1 op 500 590 op\n"),
                                  {});
    return std::ranges::find(report.data_quality, Counter::jobs_mixed, &QualityRow::counter) !=
           report.data_quality.end();
  };
  EXPECT_TRUE(mixed("@run source=kineto clock=wall_clock\n"));
  EXPECT_FALSE(mixed("@run source=kineto clock=none\n")) << "without a common clock nothing is known of the times";
  EXPECT_FALSE(mixed("@run source=rankscope clock=same_host\n")) << "one recording is one job";
  EXPECT_FALSE(mixed("@run source=kineto clock=wall_clock\n1 step 400 500 step index=1\n")) << "a common step";
}

TEST(Report, ARankWhoseDevicesWereNotRecordedHasNoIdleTime) {
  const Report report = analyze(*run_of("@run source=kineto\n@device 0 0 name=A100\n@device 0 1 name=A100\n"
                                        "0 step 0 100 step index=0\n0 op 0 10 op\n"),
                                {});
  const std::string why = "device activity was not recorded: the trace lists 2 GPUs but contains no kernels";
  ASSERT_FALSE(report.rank_rows);
  EXPECT_EQ(report.rank_rows.error().why, why);
  EXPECT_EQ(report.launches.error().why, why);
  EXPECT_EQ(report.kernels.error().why, why);
  EXPECT_EQ(report.copies.error().why, why);
  EXPECT_EQ(ids(report), std::vector<std::string>{});
  EXPECT_TRUE(report.operators) << "what the host did is told";
}

TEST(Report, OneRankWhoseDevicesWereNotRecordedIsNamed) {
  const Report report = analyze(*run_of("@run source=kineto\n@device 0 0 name=A100\n@device 1 0 name=A100\n"
                                        "@lane 0 s7 kind=stream number=7 device=0\n"
                                        "0 step 0 100 step index=0\n0 compute 0 60 gemm lane=s7\n"
                                        "1 step 0 100 step index=0\n1 op 0 10 op\n"),
                                {});
  ASSERT_FALSE(report.rank_rows);
  EXPECT_EQ(report.rank_rows.error().why,
            "device activity of rank 1 was not recorded: the trace lists 1 GPU but contains no kernels");
  EXPECT_TRUE(report.kernels) << "those of rank 0";
}

TEST(Report, ARankThatCommunicatesOnTheHostIsACpuRankWhateverDevicesAreListed) {
  const Report report = analyze(*run_of("@run source=kineto clock=same_host\n@group dp 0,1\n@device 0 0 name=A100\n"
                                        "@device 1 0 name=A100\n"
                                        "0 step 0 100 step index=0\n0 comm 10 50 all_reduce group=dp\n0 op 50 90 op\n"
                                        "1 step 0 100 step index=0\n1 comm 10 50 all_reduce group=dp\n1 op 50 90 op\n"),
                                {});
  ASSERT_TRUE(report.rank_rows) << report.rank_rows.error().why;
  EXPECT_EQ(report.rank_rows->front().total.compute_ns, 40);
}

TEST(Report, ARankThatUsesItsDevicesIsNoCpuRankWhateverElseItDoesOnTheHost) {
  for (const char* call : {"api 1 2 nccl:all_reduce", "runtime 1 2 cudaLaunchKernel", "runtime 1 2 cudaMemcpyAsync"}) {
    const Report report =
        analyze(*run_of(format("@run source=kineto clock=same_host\n@group dp 0,1\n@device 0 0 name=A100\n"
                               "0 step 0 100 step index=0\n0 comm 10 50 gloo:barrier group=dp\n0 op 50 90 op\n"
                               "1 step 0 100 step index=0\n1 comm 10 50 gloo:barrier group=dp\n1 op 50 90 op\n0 {}\n",
                               call)),
                {});
    ASSERT_FALSE(report.rank_rows) << call;
    EXPECT_EQ(report.rank_rows.error().why,
              "device activity of rank 0 was not recorded: the trace lists 1 GPU but contains no kernels");
  }
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
  SyntheticRun plan{.steps = 10};  // with 20 operations that all wait for, their ends would set the clocks
  plan.head = "@rank 0 host=a\n@rank 1 host=b\n@rank 2 host=c\n@rank 3 host=d\n";
  plan.fault = [](testing::StepPlan& step, std::uint32_t rank, std::int64_t) { step.forward *= rank == 2 ? 2 : 1; };
  const Report report = analyze(*make(plan), {});
  EXPECT_TRUE(report.steps->clocks_refused);
  ASSERT_EQ(report.stragglers->rows.size(), 1U) << "own time needs no common clock";
  EXPECT_EQ(report.stragglers->rows[0].rank, RankId{2});
}

ReportOptions asking_for(std::optional<StepRange> steps, std::vector<RankId> ranks) {
  ReportOptions options;
  options.steps = std::move(steps);
  options.ranks = std::move(ranks);
  return options;
}

TEST(Report, OnlyTheRanksAskedForAreShown) {
  const Report report = analyze(*make({}), asking_for({}, {RankId{1}, RankId{3}}));
  ASSERT_EQ(report.rank_rows->size(), 2U);
  EXPECT_EQ(report.rank_rows->at(1).rank, RankId{3});
  ASSERT_EQ(report.asked_for.rows_left_out.size(), 2U) << "for the medians of all ranks";
  EXPECT_EQ(report.asked_for.rows_left_out[1].rank, RankId{2});
  ASSERT_EQ(report.rank_facts.size(), 2U);
  EXPECT_EQ(report.rank_facts[0].rank, RankId{1});
  EXPECT_EQ(report.collectives->matched, 80) << "two buckets in 20 steps on two ranks";
  EXPECT_EQ(report.collectives->unmatched, 0) << "matching still sees all";
}

TEST(Report, WaitsAreThoseOfTheRanksAskedFor) {
  const auto run = run_of(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 step 0 100 step index=0\n0 op 0 50 op\n0 comm 50 90 allreduce group=dp\n"
      "1 step 0 100 step index=0\n1 op 0 70 op\n1 comm 70 90 allreduce group=dp\n");
  EXPECT_EQ(analyze(*run, {}).collectives->groups.at(0).wait_ns, 20);
  EXPECT_EQ(analyze(*run, asking_for({}, {RankId{0}})).collectives->groups.at(0).wait_ns, 20);
  EXPECT_EQ(analyze(*run, asking_for({}, {RankId{1}})).collectives->groups.at(0).wait_ns, 0);
}

TEST(Report, AShownRankIsComparedWithThoseThatAreNot) {
  SyntheticRun plan;
  plan.fault = [](testing::StepPlan& step, std::uint32_t rank, std::int64_t) { step.backward *= rank == 2 ? 1.5 : 1; };
  const auto run = make(plan);
  const Report slow = analyze(*run, asking_for({}, {RankId{2}}));
  ASSERT_EQ(slow.stragglers->rows.size(), 1U);
  EXPECT_EQ(slow.stragglers->rows[0].rank, RankId{2});
  const Report steady = analyze(*run, asking_for({}, {RankId{0}}));
  EXPECT_TRUE(steady.stragglers->rows.empty());
  for (const std::string& id : ids(steady)) EXPECT_FALSE(id.starts_with("straggler")) << id;
}

TEST(Report, OnlyTheStepsAskedForCount) {
  const auto run = make({});
  const Report whole = analyze(*run, {});
  const Report part = analyze(*run, asking_for(StepRange{5, 9}, {}));
  EXPECT_EQ(part.steps->steps.size(), 5U);
  EXPECT_EQ(part.rank_rows->at(0).per_step.size(), 5U);
  EXPECT_EQ(part.collectives->matched, 40) << "two buckets in 5 steps on four ranks";
  EXPECT_EQ(part.collectives->unmatched, 0);
  EXPECT_EQ(part.collectives->groups.at(0).count, 10);
  EXPECT_EQ(part.collectives->operations.size(), 10U);
  EXPECT_LT(part.collectives->groups.at(0).wait_ns, whole.collectives->groups.at(0).wait_ns);
  EXPECT_EQ(part.steps_recorded, (StepRange{0, 19}));
}

TEST(Report, SamplesOutsideTheStepsAskedForDoNotCount) {
  const auto run = run_of(
      "0 step 0 100 step index=0\n0 op 0 90 op\n0 step 100 200 step index=1\n0 op 100 190 op\n"
      "0 counter 50 10 cpu_percent\n0 counter 150 30 cpu_percent\n0 counter 190 90 cpu_percent\n"
      "0 counter 50 4000 rss_bytes\n"
      "0 counter 150 3000 rss_bytes\n0 counter 50 700 allocated_bytes\n0 counter 150 500 allocated_bytes\n"
      "0 counter 150 800 peak_allocated_bytes\n");
  const Report report = analyze(*run, asking_for(StepRange{1, 1}, {}));
  EXPECT_EQ(report.rank_facts.at(0).cpu_percent, 90);
  EXPECT_EQ(report.rank_facts.at(0).peak_rss_bytes, 3000);
  EXPECT_EQ(report.rank_rows->at(0).cpu_percent, 90);
  EXPECT_EQ(report.rank_rows->at(0).peak_allocated_bytes, 500) << "the allocator's own peak is that since its start";
}

TEST(Report, StepsThatWereNotRecordedGiveNoNumbersInTheirPlace) {
  const Report report = analyze(*make({}), asking_for(StepRange{50, 60}, {}));
  EXPECT_FALSE(report.steps);
  EXPECT_NE(report.steps.error().why.find("0 to 19"), std::string::npos) << report.steps.error().why;
  EXPECT_FALSE(report.rank_rows);
  EXPECT_FALSE(report.collectives);
}

TEST(Report, ALostRankIsSaidWithItsStepWhateverWasAskedFor) {
  const auto run = run_of(
      "@run clock=same_host\n"
      "@rank 0 recorded=0:300 ended=exited:0\n@rank 1 recorded=0:220 ended=exited:3\n"
      "0 step 0 100 step index=0\n0 step 100 200 step index=1\n0 step 200 300 step index=2\n"
      "1 step 0 100 step index=0\n1 step 100 200 step index=1\n1 step 200 220 step index=2 cut=end\n");
  const Report report = analyze(*run, asking_for(StepRange{0, 0}, {RankId{0}}));
  ASSERT_TRUE(report.findings);
  ASSERT_EQ(ids(report), std::vector<std::string>{"rank_lost"});
  EXPECT_EQ(report.findings->front().step, 2);
}

TEST(Report, AJobThatStillRunsIsSaidToAndHasLostNoRank) {
  const auto run = run_of(
      "@run clock=same_host world_size=2 meta.still_running=\"2 of 2 processes\"\n@group dp 0,1\n"
      "0 step 0 100 step index=0\n0 op 0 90 op\n0 comm 90 95 allreduce group=dp\n"
      "1 step 0 100 step index=0\n1 op 0 60 op\n1 comm 60 95 allreduce group=dp\n"
      "0 step 100 200 step index=1\n0 op 100 150 op\n");
  const Report report = analyze(*run, {});
  for (const Finding& finding : *report.findings) EXPECT_NE(finding.id, "rank_lost");
  EXPECT_NE(render_text(report, *run, {}, Colour::no).find("The job is still running: this report covers what it has"),
            std::string::npos);
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

TEST(Sections, EachHasOneRowWithAPlaceOfItsOwnInTheJson) {
  std::set<std::string_view> ids;
  std::set<int> places;
  for (const SectionRow& row : section_rows()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_TRUE(row.json == nullptr || places.insert(row.json_place).second) << row.id;
    EXPECT_EQ(row.question.empty(), row.find == nullptr) << row.id;
    EXPECT_TRUE(row.part_of.empty() || section_row(row.part_of) != nullptr) << row.id;
  }
}

TEST(Sections, NeedOnlyWhatIsTheIdOfAnotherRowThatIsFound) {
  for (const SectionRow& row : section_rows()) {
    if (row.needs == "*") continue;
    std::istringstream needs{std::string{row.needs}};
    for (std::string need; needs >> need;) {
      const auto needed = std::ranges::find(section_rows(), need, &SectionRow::id);
      ASSERT_NE(needed, section_rows().end()) << row.id << " needs \"" << need << "\", which is the id of no row";
      EXPECT_NE(needed->find, nullptr) << row.id << " needs " << need << ", which has nothing to find";
      EXPECT_NE(needed->id, row.id) << "a row cannot need itself";
    }
  }
}

TEST(Sections, NeedOnlyThoseThatAreThereAndDoNotNeedThem) {
  std::set<std::string_view> found;  // in as many rounds as the longest chain of needs is long
  for (std::size_t round = 0; round < sections().size(); ++round)
    for (const SectionInfo& info : sections()) {
      std::istringstream needs{std::string{section_row(info.id)->needs}};
      std::string need;
      bool ready = true;
      while (needs >> need) ready = ready && (need == "*" || found.contains(section_row(need)->id));
      if (ready) found.insert(info.id);
    }
  EXPECT_EQ(found.size(), sections().size());
}

}  // namespace
}  // namespace rankscope::analyzer
