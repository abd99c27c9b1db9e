// Two runs against each other, on runs whose difference is known (metrics.md 17).
#include "rankscope/analyzer/compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analyzer/compare/compared_runs.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/compare/render_comparison.h"
#include "rankscope/core/format.h"
#include "support/changed_run.h"

namespace rankscope::analyzer {
namespace {

using testing::compare_runs;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using testing::gpu_text;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make;
using testing::names_of;
using testing::run_of;
using testing::StepPlan;
using testing::SyntheticRun;
using Lines = std::vector<std::string>;

TEST(Compare, ARunWithItselfFindsNothing) {
  const auto run = make({});
  const Comparison found = compare_runs(*run, *run);
  EXPECT_EQ(found.steps.verdict, StepVerdict::unchanged);
  EXPECT_EQ(found.steps.change, 0.0);
  EXPECT_THAT(found.keys.changed, IsEmpty());
  EXPECT_THAT(found.keys.appeared, IsEmpty());
  EXPECT_THAT(found.keys.gone, IsEmpty());
  EXPECT_GT(found.keys.tested, 0);
  EXPECT_EQ(found.keys.maybe_chance, 0);
  EXPECT_EQ(found.split->all.window_change_ns(), 0);
  EXPECT_THAT(found.likeness.differences, IsEmpty());
}

TEST(Compare, OneKernelThatIsTwentyPercentSlowerIsExactlyWhatIsFound) {
  const auto run = run_of(gpu_text(20, 1));
  const auto slower = testing::with_longer_kernel(*run, "softmax", 1.2);
  const Comparison found = compare_runs(*run, *slower);
  EXPECT_EQ(found.steps.verdict, StepVerdict::slower);
  EXPECT_NEAR(*found.steps.change, 0.06, 0.005);
  ASSERT_THAT(names_of(found.keys.changed), ElementsAre("softmax"));
  const KeyChange& key = found.keys.changed.front();
  EXPECT_NEAR(static_cast<double>(*key.b_ns) / static_cast<double>(*key.a_ns), 1.2, 1e-6);
  EXPECT_EQ(key.key.detail, "grid [8,1,1], block [128,1,1]");
  EXPECT_LT(*key.q, 0.001);
  EXPECT_EQ(found.keys.maybe_chance, 0);
  EXPECT_THAT(found.keys.appeared, IsEmpty());
  EXPECT_THAT(found.keys.gone, IsEmpty());
  EXPECT_NEAR(static_cast<double>(found.split->all.change_ns(SplitPart::compute)), static_cast<double>(key.change_ns()),
              2);
}

TEST(Compare, TheOtherWayRoundItIsFaster) {
  const auto run = run_of(gpu_text(20, 1));
  const auto slower = testing::with_longer_kernel(*run, "gemm", 1.2);
  const Comparison found = compare_runs(*slower, *run);
  EXPECT_EQ(found.steps.verdict, StepVerdict::faster);
  EXPECT_THAT(names_of(found.keys.changed), ElementsAre("gemm"));
}

TEST(Compare, ASlowKernelAmongFewStepsIsShownButNotClaimed) {
  const auto run = run_of(gpu_text(5, 1));
  const auto slower = testing::with_longer_kernel(*run, "softmax", 1.2);
  const Comparison found = compare_runs(*run, *slower);
  EXPECT_EQ(found.steps.verdict, StepVerdict::cannot_tell);
  EXPECT_THAT(found.steps.why, HasSubstr("A has 5 counted steps, but 10 are needed"));
  EXPECT_FALSE(found.steps.low);
  EXPECT_THAT(names_of(found.keys.changed), ElementsAre("softmax"));
  EXPECT_FALSE(found.keys.changed.front().q);
  EXPECT_THAT(found.keys.not_tested, HasSubstr("10 are needed"));
}

TEST(Compare, ASlowRankShowsInItsComputationAndInTheWaitingOfTheOthers) {
  const auto clean = make({.steps = 30});
  const auto slow = make({.steps = 30, .seed = 2, .fault = [](StepPlan& plan, std::uint32_t rank, std::int64_t) {
                            if (rank == 2) plan.backward *= 1.3;
                          }});
  const Comparison found = compare_runs(*clean, *slow);
  EXPECT_EQ(found.steps.verdict, StepVerdict::slower);
  ASSERT_EQ(found.split->ranks.size(), 4U);
  EXPECT_EQ(found.split->ranks[2].who, "rank 2");
  EXPECT_GT(found.split->ranks[2].change_ns(SplitPart::compute), 15'000'000);
  EXPECT_LT(std::abs(found.split->ranks[1].change_ns(SplitPart::compute)), 1'000'000);
  EXPECT_GT(found.split->ranks[1].change_ns(SplitPart::exposed_wait), 15'000'000);
  EXPECT_THAT(names_of(found.keys.changed), ::testing::UnorderedElementsAre("backward_block", "backward", "dp"));
  const auto waiting = std::ranges::find(found.keys.changed, "dp", [](const KeyChange& row) { return row.key.name; });
  EXPECT_EQ(waiting->key.kind, KeyKind::wait);
  EXPECT_EQ(waiting->key.detail, "allreduce");
}

TEST(Compare, FindingsThatCameAndWentAreNamed) {
  const auto clean = make({.steps = 30, .seed = 5});
  const auto slow = make({.steps = 30, .seed = 6, .fault = [](StepPlan& step, std::uint32_t rank, std::int64_t) {
                            if (rank == 2) step.forward *= 2;
                          }});
  const ComparedFindings came = compare_runs(*clean, *slow).findings;
  ASSERT_FALSE(came.came.empty());
  EXPECT_EQ(came.came.front().id, "straggler.compute");
  EXPECT_EQ(came.came.front().rank, RankId{2});
  const ComparedFindings went = compare_runs(*slow, *clean).findings;
  EXPECT_TRUE(std::ranges::any_of(went.went, [](const Finding& row) { return row.id == "straggler.compute"; }));
  const ComparedFindings same = compare_runs(*slow, *slow).findings;
  EXPECT_TRUE(same.came.empty());
  EXPECT_TRUE(same.went.empty());
  EXPECT_GT(same.in_both, 0);
}

TEST(Compare, FindingsAboutOtherLinksAreOtherFindings) {
  const auto with = [](std::string_view subject, FindingSeverity severity) {
    RunDigest run;
    Finding finding;
    finding.id = "slow_link";
    finding.severity = severity;
    finding.subject = subject;
    run.report.findings = std::vector{finding};
    return run;
  };
  const RunDigest before = with("link 0 1", FindingSeverity::minor);
  const ComparedFindings other = compare(before, with("link 2 3", FindingSeverity::minor)).findings;
  EXPECT_EQ(other.in_both, 0);
  ASSERT_EQ(other.came.size(), 1U);
  EXPECT_EQ(other.came[0].subject, "link 2 3");
  EXPECT_EQ(other.went.size(), 1U);
  EXPECT_THAT(other.risen, IsEmpty());
  const ComparedFindings worse = compare(before, with("link 0 1", FindingSeverity::major)).findings;
  EXPECT_EQ(worse.in_both, 1);
  ASSERT_EQ(worse.risen.size(), 1U);
  EXPECT_EQ(worse.risen[0].before, FindingSeverity::minor);
  EXPECT_EQ(worse.risen[0].now.severity, FindingSeverity::major);
  EXPECT_THAT(compare(with("link 0 1", FindingSeverity::major), before).findings.risen, IsEmpty());
}

TEST(Compare, PeaksOfMemoryArePairedByRankAndDevice) {
  const auto with_peak = [](std::int64_t bytes) {
    return run_of(
        format("@rank 0 pid=1 host=n0\n@lane 0 main kind=thread number=1\n"
               "@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 100 gemm lane=s7\n"
               "0 counter 10 {} allocated_bytes\n0 counter 20 4000 reserved_bytes\n",
               bytes));
  };
  const auto rows = compare_runs(*with_peak(1000), *with_peak(1500)).memory;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].allocated_a, 1000);
  EXPECT_EQ(rows[0].allocated_b, 1500);
  EXPECT_EQ(rows[0].reserved_a, 4000);
  EXPECT_EQ(rows[0].reserved_b, 4000);
}

TEST(Compare, PartsAddUpToTheWindowInEveryRow) {
  const auto a = make({.ranks = 3, .steps = 13, .seed = 5});
  const auto b = make({.ranks = 3, .steps = 17, .noise = 0.05, .seed = 6});
  const Comparison found = compare_runs(*a, *b);
  std::vector<SplitChange> rows = found.split->ranks;
  rows.push_back(found.split->all);
  for (const SplitChange& row : rows) {
    std::int64_t change = 0;
    for (std::size_t i = 0; i < split_part_count; ++i) change += row.change_ns(static_cast<SplitPart>(i));
    EXPECT_EQ(change, row.window_change_ns()) << row.who;
    EXPECT_EQ(std::accumulate(row.a.parts_ns.begin(), row.a.parts_ns.end(), std::int64_t{0}), row.a.window_ns);
  }
  EXPECT_EQ(found.split->all.a.rank_steps, 3 * 13);
}

TEST(Compare, NewAndGoneKernelsAreNoChangedOnes) {
  std::string other = gpu_text(12, 3);
  for (std::size_t at = other.find("softmax"); at != std::string::npos; at = other.find("softmax"))
    other.replace(at, 7, "flash");
  const Comparison found = compare_runs(*run_of(gpu_text(12, 3)), *run_of(other));
  EXPECT_THAT(names_of(found.keys.appeared), ElementsAre("flash"));
  EXPECT_THAT(names_of(found.keys.gone), ElementsAre("softmax"));
  EXPECT_THAT(found.keys.changed, IsEmpty());
}

TEST(Compare, WithoutStepsOnlyMediansAreCompared) {
  const auto text = [](int ns) {
    return format(
        "@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 {} gemm lane=s7\n0 compute 1000 1100 norm "
        "lane=s7\n",
        ns);
  };
  const Comparison found = compare_runs(*run_of(text(100)), *run_of(text(150)));
  EXPECT_EQ(found.steps.verdict, StepVerdict::cannot_tell);
  EXPECT_THAT(found.steps.why, HasSubstr("no step marks were recorded"));
  EXPECT_FALSE(found.steps.change);
  EXPECT_FALSE(found.split);
  EXPECT_THAT(found.keys.changed, IsEmpty());
  ASSERT_THAT(names_of(found.keys.medians), ElementsAre("gemm"));
  EXPECT_EQ(found.keys.medians.front().median_b_ns, 150);
  EXPECT_FALSE(found.keys.medians.front().a_ns) << "nothing per step without steps";
  EXPECT_FALSE(found.keys.medians.front().b_ns);
  EXPECT_EQ(found.keys.why_no_mean_a, "no step marks were recorded");
}

TEST(Compare, CallsOfStepsAndOfAWholeRecordingAreToldApart) {
  const std::string kernels =
      "@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
      "0 compute 0 40 gemm lane=s7\n0 compute 100 140 gemm lane=s7\n0 compute 200 240 gemm lane=s7\n";
  const std::string steps = "0 step 0 100 step index=0 lane=main\n0 step 100 200 step index=1 lane=main\n";
  const Comparison found = compare_runs(*run_of(kernels + steps), *run_of(kernels));
  EXPECT_EQ(found.keys.calls_a, "2 counted steps");
  EXPECT_EQ(found.keys.calls_b, "the whole recording");
  EXPECT_EQ(found.keys.why_no_mean_a, "");
  EXPECT_EQ(found.keys.why_no_mean_b, "no step marks were recorded");
}

TEST(Compare, AnOpenRangeOfStepsEndsWhereEachRunEnds) {
  ReportOptions options;
  options.steps = {5, to_the_end};
  const Comparison found =
      compare(digest(*make({.steps = 20}), options, {"A", "a"}), digest(*make({.steps = 30}), options, {"B", "b"}));
  EXPECT_EQ(found.asked_for.steps, (StepRange{5, to_the_end})) << "19 is the last of A only";
}

TEST(Compare, AKeyTakesRoomForTheStepsThatHaveItAlone) {
  std::string text = gpu_text(20, 1);
  const RunDigest few = digest(*run_of(text), {}, {"A", "a"});
  for (const KeySeries& series : few.keys) EXPECT_EQ(series.per_step.size(), 20U) << series.key.name;
  const auto first = few.report.steps->windows.front().window;
  text += format("0 compute {} {} once lane=s7\n", ns_of(first.begin), ns_of(first.begin) + 10);
  const RunDigest more = digest(*run_of(text), {}, {"A", "a"});
  const auto once = std::ranges::find(more.keys, "once", [](const KeySeries& series) { return series.key.name; });
  ASSERT_NE(once, more.keys.end());
  ASSERT_EQ(once->per_step.size(), 1U);
  EXPECT_EQ(once->per_step.front().step, 0U);
  EXPECT_EQ(once->per_step.front().ns, 10);
}

TEST(Compare, RunsOfDifferentSizePairTheirPeersAndSayHowTheyScale) {
  const auto two = make({.ranks = 2, .head = "@run clock=same_host clock_error=1000 world_size=2\n"});
  const auto four = make({.ranks = 4, .seed = 3, .head = "@run clock=same_host clock_error=1000 world_size=4\n"});
  const Comparison found = compare_runs(*two, *four);
  ASSERT_EQ(found.split->ranks.size(), 1U);
  EXPECT_EQ(found.split->ranks.front().who, "all ranks");
  EXPECT_EQ(found.split->ranks.front().ranks_b.size(), 4U);
  ASSERT_TRUE(found.scaling && *found.scaling);
  EXPECT_NEAR((*found.scaling)->same_problem, 0.5, 0.02) << "each rank computes as before";
  EXPECT_NEAR((*found.scaling)->grown_problem, 1, 0.04);
}

TEST(Compare, RanksThatAreNotAskedForAreLeftOut) {
  const auto run = make({});
  ReportOptions options;
  options.ranks = {RankId{1}};
  const Comparison found = compare_runs(*run, *run, options);
  ASSERT_EQ(found.split->ranks.size(), 1U);
  EXPECT_EQ(found.split->ranks.front().who, "rank 1");
  EXPECT_FALSE(found.scaling);
}

TEST(Compare, WhatMustAgreeIsNamedFirst) {
  const auto a = run_of(gpu_text(12, 1));
  std::string text = gpu_text(12, 1);
  text.replace(text.find("f32"), 3, "bf16");
  const Comparison found = compare_runs(*a, *run_of(text));
  ASSERT_EQ(found.likeness.differences.size(), 1U);
  EXPECT_EQ(found.likeness.differences.front().what, "dtype");
  EXPECT_TRUE(found.likeness.differences.front().must_agree);
  EXPECT_THAT(found.likeness.unknown, IsEmpty());
  const Comparison unknown = compare_runs(*make({}), *make({}));
  EXPECT_THAT(unknown.likeness.unknown, ElementsAre("batch", "dtype"));
}

TEST(Compare, LeadsWithTheRankThatMadeTheOthersWait) {
  const auto of = [](double factor) {
    return make({.steps = 30, .fault = [factor](testing::StepPlan& step, std::uint32_t rank, std::int64_t) {
                   if (rank == 2) step.forward *= factor;
                 }});
  };
  const Comparison found = compare_runs(*of(1), *of(3));
  EXPECT_THAT(
      render_text(ComparisonView{found, {}}, Colour::no),
      ContainsRegex("Compute grew by [0-9.]+ ms per step on rank 2, and the other ranks therefore wait longer"));
}

TEST(Compare, LeadsWithNoRankThatItselfWaitsLonger) {
  const auto of = [](double factor) {
    return make({.steps = 30, .fault = [factor](testing::StepPlan& step, std::uint32_t rank, std::int64_t index) {
                   if (rank == (index % 2 == 0 ? 2 : 1)) step.forward *= factor;
                 }});
  };
  const Comparison found = compare_runs(*of(1), *of(3));
  EXPECT_THAT(render_text(ComparisonView{found, {}}, Colour::no), Not(HasSubstr("therefore wait")));
}

TEST(Compare, RunsOfTheTrainerWithAnotherPaceAreNotTheSameJobAndAnotherCommandIsShown) {
  const auto of = [](const std::string& facts) {
    return make({.head = "@run clock=same_host meta.parallel=ddp " + facts + "\n"});
  };
  const Comparison found = compare_runs(*of("meta.command=train meta.pace_ms=100"), *of("meta.command=train-again"));
  ASSERT_EQ(found.likeness.differences.size(), 2U);
  EXPECT_EQ(found.likeness.differences[0].what, "pace_ms");
  EXPECT_TRUE(found.likeness.differences[0].must_agree);
  EXPECT_EQ(found.likeness.differences[1].what, "command");
  EXPECT_FALSE(found.likeness.differences[1].must_agree);
}

TEST(Compare, RunsOfDifferentJobsAreNotCalledSlowerOrFasterUnlessAskedFor) {
  const RunDigest two = digest(*make({.ranks = 2, .steps = 20}), {}, {"A", "a"});
  const RunDigest four =
      digest(*make({.ranks = 4,
                    .steps = 20,
                    .fault = [](testing::StepPlan& step, std::uint32_t, std::int64_t) { step.forward *= 2; }}),
             {}, {"B", "b"});
  const Comparison refused = compare(two, four);
  EXPECT_EQ(refused.steps.verdict, StepVerdict::cannot_tell);
  EXPECT_THAT(refused.steps.why, HasSubstr("the runs are not of the same job: world size 2 against 4"));
  EXPECT_TRUE(refused.steps.change) << "the figures stay";
  const std::string text = render_text(ComparisonView{refused, {}}, Colour::no);
  EXPECT_THAT(text, HasSubstr("Cannot tell whether B is slower or faster than A: the runs are not of the same job"));
  EXPECT_THAT(text, Not(HasSubstr("These are not runs"))) << "once is enough";
  const Comparison judged = compare(two, four, Losses::refused, Likes::may_differ);
  EXPECT_EQ(judged.steps.verdict, StepVerdict::slower);
  EXPECT_THAT(render_text(ComparisonView{judged, {}}, Colour::no), HasSubstr("These are not runs of the same job: "));
}

TEST(Compare, ResultsAndThePlaceOfOneRankAreNotPropertiesOfTheRun) {
  const auto of = [](const std::string& facts) { return make({.head = "@run clock=same_host " + facts + "\n"}); };
  const Comparison found = compare_runs(*of("meta.device_cpu_seconds=1.25 meta.pp_rank=0"), *of("meta.stage=1"));
  EXPECT_TRUE(found.likeness.differences.empty());
}

/// The words "changed" and "slower" must be rare on runs that differ by chance only.
TEST(Compare, NoiseIsHardlyEverAFind) {
  constexpr int pairs = 60;
  int steps = 0;
  int keys = 0;
  for (int pair = 0; pair < pairs; ++pair) {
    const auto seed = static_cast<std::uint64_t>(pair);
    const auto a = make({.ranks = 2, .steps = 12, .noise = 0.03, .seed = 2 * seed + 100});
    const auto b = make({.ranks = 2, .steps = 12, .noise = 0.03, .seed = 2 * seed + 101});
    const RunDigest of_a = digest(*a, {}, {"A", "a"});
    const Comparison found = compare(of_a, digest(*b, {}, {"B", "b"}));
    if (found.steps.verdict != StepVerdict::unchanged) ++steps;
    if (!found.keys.changed.empty()) ++keys;
    const Comparison itself = compare(of_a, of_a);
    EXPECT_EQ(itself.steps.verdict, StepVerdict::unchanged);
    EXPECT_THAT(itself.keys.changed, IsEmpty());
  }
  EXPECT_LT(steps, pairs / 20);
  EXPECT_LT(keys, pairs / 20);
}

}  // namespace
}  // namespace rankscope::analyzer
