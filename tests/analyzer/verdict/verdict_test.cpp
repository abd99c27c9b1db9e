#include "verdict/verdict.h"

#include <gmock/gmock.h>

#include "analyzer/sample_report.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::int64_t step_ns = 1'000'000;

/// The first ranks of a job, each with steps of 1 ms that end in an operation with all others.
Report report_on(std::uint32_t recorded, std::uint32_t of, std::int64_t comm_ns, int steps = 6) {
  std::string text = format("@run clock=same_host world_size={}\n@group all 0", of);
  for (std::uint32_t rank = 1; rank < of; ++rank) text += format(",{}", rank);
  text += '\n';
  for (std::uint32_t rank = 0; rank < recorded; ++rank)
    for (int step = 0; step < steps; ++step) {
      const std::int64_t begin = step * step_ns;
      const std::int64_t comm = begin + step_ns - comm_ns;
      text += format("{} step {} {} step index={}\n", rank, begin, begin + step_ns, step);
      text += format("{} op {} {} work\n{} comm {} {} allgather group=all seq={}\n", rank, begin, comm, rank, comm,
                     begin + step_ns, step);
    }
  return analyze(*testing::run_of(text), {});
}

Finding finding_of(std::string id, FindingSeverity severity, std::string title) {
  Finding finding;
  finding.id = std::move(id);
  finding.severity = severity;
  finding.title = std::move(title);
  return finding;
}

/// Nothing wrong except these.
Report report_with(std::vector<Finding> findings) {
  Report report = clean_report(*sample_run());
  report.findings = std::move(findings);
  return report;
}

TEST(Verdict, OfAMinorFindingSaysThatNoLargeProblemWasFound) {
  Finding hint = finding_of("fusable", FindingSeverity::minor, "27 % of the time pointwise kernels run in a row");
  hint.gain_ns_per_step = 1'200'000;
  EXPECT_THAT(verdict_sentences(report_with({hint})),
              ElementsAre("No large problem was found in 20 steps of 4 ranks; the largest finding: 27 % of the time "
                          "pointwise kernels run in a row (a fix saves up to 1.20 ms per step)."));
}

TEST(Verdict, OfAMinorFindingClaimsNothingOfWhatCannotBeTold) {
  Report report =
      report_with({finding_of("fusable", FindingSeverity::minor, "27 % of the time pointwise kernels run in a row")});
  report.steps = unavailable("no step marks were recorded");
  report.stragglers = unavailable("this cannot be computed without steps");
  EXPECT_THAT(
      verdict_sentences(report),
      ElementsAre("No large problem was found in what can be judged; the largest finding: 27 % of the time pointwise "
                  "kernels run in a row.",
                  "Cannot tell which rank is slow or how long a step takes: no step marks were recorded."));
}

TEST(Verdict, AShareThatIsOnlyHeldAtMinorIsNotCalledSmall) {
  const Report report =
      analyze(*testing::run_of("@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 100 gemm lane=s7\n"
                               "0 compute 900 1000 gemm lane=s7\n"),
              {});
  ASSERT_EQ(report.findings->front().id, "idle");
  EXPECT_EQ(report.findings->front().severity, FindingSeverity::minor);
  EXPECT_EQ(verdict_of(report).headline,
            "The largest finding: 80 % of the time between the first and the last device work, nothing runs; how large "
            "a problem it is cannot be judged without steps.");
}

TEST(Verdict, AMinorFindingOnARankWhoseCostIsUnknownIsStated) {
  Finding late = finding_of("waited_for", FindingSeverity::minor, "the other ranks wait for rank 1");
  late.rank = RankId{1};
  late.why_no_gain = "no steps";
  EXPECT_THAT(verdict_sentences(report_with({late})),
              ElementsAre("The other ranks wait for rank 1.", "The saving is unknown: no steps."));
}

TEST(Verdict, ALargeFindingHasItsCauseAndWhatAFixSaves) {
  Finding idle = finding_of("idle", FindingSeverity::major, "42 % of the time, nothing runs");
  idle.gain_ns_per_step = 19'200'000;
  EXPECT_THAT(verdict_sentences(report_with({idle})),
              ElementsAre("42 % of the time, nothing runs.", "Up to 19.2 ms per step (42 %) could be saved."));
  idle.cause = "largest part: 19.2 ms (out of 20.0 ms of idle time per step and rank) because the host launched late";
  EXPECT_THAT(
      verdict_sentences(report_with({idle})),
      Contains(
          "Largest part: 19.2 ms (out of 20.0 ms of idle time per step and rank) because the host launched late. Up to "
          "19.2 ms per step (42 %) could be saved."));
}

TEST(Verdict, WithOneRankOfManyItsOwnFindingLeads) {
  const Report report = report_on(1, 8, 620'000);
  EXPECT_THAT(
      verdict_sentences(report),
      ElementsAre("62 % of the time, only communication runs.",
                  "Most of it is all-gather, 620 µs per step and rank. The saving is unknown: the partners of more "
                  "than a tenth of the operations are not known.",
                  "Cannot tell whether a rank is slow: only 1 of 8 ranks was recorded."));
  ASSERT_EQ(report.findings->size(), 2U);
  EXPECT_EQ(report.findings->back().id, "ranks_missing");
}

/// The whole text on a run of a job of `world` ranks, of which rank 0 was recorded and one segment file cannot be read.
std::string text_with_an_unreadable_file(int world) {
  std::string lines = format(
      "@run clock=same_host source=rankscope world_size={}\n"
      "@quality segments_unreadable 1 \"cannot open b.rseg: Permission denied\"\n",
      world);
  for (int step = 0; step < 6; ++step)
    lines += format("0 step {0}000 {0}999 step index={0}\n0 op {0}000 {0}900 work\n", step);
  const auto run = testing::run_of(lines);
  return render_text(analyze(*run, {}), *run, {}, Colour::no);
}

TEST(Verdict, ARankWhoseFileCannotBeReadIsNotCalledUnrecorded) {
  const std::string text = text_with_an_unreadable_file(2);
  EXPECT_THAT(text, HasSubstr("rank 1 (of 2) cannot be read"));
  EXPECT_THAT(text, HasSubstr("only 1 of 2 ranks can be read"));
  EXPECT_THAT(text, Not(HasSubstr("ranks was recorded")));
}

TEST(Verdict, OneUnreadableFileDoesNotExplainSeveralAbsentRanks) {
  const std::string text = text_with_an_unreadable_file(4);
  EXPECT_THAT(text, HasSubstr("(of 4) were not recorded or cannot be read"));
  EXPECT_THAT(text, HasSubstr("only 1 of 4 ranks was recorded"));
}

TEST(Verdict, OfFindingsOfOneSeverityMissingRanksComeLast) {
  const Report report = report_on(1, 8, 250'000);
  ASSERT_EQ(report.findings->size(), 2U);
  EXPECT_EQ(report.findings->front().id, "exposed_communication");
  EXPECT_EQ(report.findings->front().severity, report.findings->back().severity);
}

TEST(Verdict, WithOneRankOfManyItSaysWhatThatRankShows) {
  EXPECT_THAT(verdict_sentences(report_on(1, 64, 32'000)),
              ElementsAre("Ranks 1–63 (of 64) were not recorded.",
                          "Nothing stands out on rank 0: exposed communication 3.2 %, idle 0.0 %.",
                          "Cannot tell whether a rank is slow: only 1 of 64 ranks was recorded."));
}

TEST(Verdict, WithOneRankOfManyAHintOfThatRankIsNotLost) {
  EXPECT_THAT(verdict_sentences(report_on(1, 8, 120'000)),
              Contains("No large problem was found on rank 0; the largest finding: 12 % of the time, only "
                       "communication runs."));
}

TEST(Verdict, SaysOnceHowManyRanksWereRecorded) {
  const auto sentences = verdict_sentences(report_on(2, 128, 620'000, 2));
  EXPECT_THAT(sentences, Contains("Only 2 of 128 ranks were recorded.").Times(1));
  EXPECT_THAT(sentences, Contains("Cannot tell whether a rank is slow: only 2 counted steps (5 are needed, 25 for a "
                                  "firm verdict)."));
  EXPECT_THAT(sentences, Each(Not(HasSubstr("DATA QUALITY")))) << "nothing of what was given was lost";
}

TEST(Verdict, OtherLossesAreStillSaid) {
  Report report = report_on(2, 128, 620'000);
  report.data_quality.push_back({Counter::events_dropped, 7});
  EXPECT_THAT(verdict_sentences(report), Contains("Parts of the recording are missing; see DATA QUALITY."));
  EXPECT_THAT(doubts_about(report),
              AllOf(Contains("Parts of the recording are missing."), Contains("Only 2 of 128 ranks were recorded.")));
}

/// Everything available and nothing wrong, but that counter is above zero.
Report clean_but_for(Counter counter) {
  Report report = clean_report(*sample_run());
  report.data_quality.push_back({counter, 7});
  return report;
}

void expect_no_all_clear(const Report& report) {
  const std::string text = render_text(report, *sample_run(), {}, Colour::no);
  for (const char* claim : {"No problem found", "would have been found", "  None.\n"})
    EXPECT_THAT(text, Not(HasSubstr(claim)));
  EXPECT_THAT(verdict_sentences(report), Contains("No problem was found in what can be judged."));
  EXPECT_THAT(verdict_sentences(report), Contains(HasSubstr("see DATA QUALITY.")));
  EXPECT_THAT(verdict_of(report).tone, Tone::warning);
}

TEST(Verdict, WithoutAllDataIsNoAllClear) {
  for (const CounterInfo& info : counter_table())
    if (info.severity == Severity::data_loss) {
      SCOPED_TRACE(info.name);
      expect_no_all_clear(clean_but_for(info.counter));
    }
}

TEST(Verdict, WithErrorsThatHideWorkIsNoAllClear) {
  for (const Counter counter : {Counter::sources_failed, Counter::rank_contested, Counter::names_lost,
                                Counter::negative_duration, Counter::not_gathered, Counter::files_left_out}) {
    SCOPED_TRACE(info_of(counter).name);
    expect_no_all_clear(clean_but_for(counter));
    EXPECT_THAT(doubts_about(clean_but_for(counter)), ElementsAre("Errors in the recording can hide problems."));
  }
}

TEST(Verdict, WithOperationsInTheStepsThatHaveNoEndOrPartnerIsNoAllClear) {
  Report report = clean_but_for(Counter::collectives_unmatched);
  EXPECT_THAT(verdict_of(report).headline, StartsWith("No problem found")) << "outside of the steps they hide nothing";
  report.collectives->unknown_in_steps = 7;
  expect_no_all_clear(report);
}

TEST(Verdict, WithCountersThatHideNothingIsAnAllClear) {
  for (const Counter counter : {Counter::steps_partial, Counter::clock_low, Counter::collectives_open})
    EXPECT_THAT(verdict_of(clean_but_for(counter)).headline, StartsWith("No problem found in 20 steps of 4 ranks"));
  Report running = clean_but_for(Counter::not_gathered);
  running.facts.emplace_back("still_running", "4");
  EXPECT_THAT(verdict_of(running).headline, StartsWith("No problem found")) << "so far";
}

TEST(Verdict, RefersToMissingSectionsOnlyIfThereAreAny) {
  Report report = clean_report(*sample_run());
  report.stragglers->cannot_tell = "the ranks differ too much";
  EXPECT_THAT(verdict_sentences(report), Each(Not(HasSubstr("NOT AVAILABLE"))));
  report.stragglers = unavailable("only one step was recorded");
  EXPECT_THAT(verdict_sentences(report), Contains("To get the missing data, see NOT AVAILABLE (--full)."));
  for (const std::string& sentence : verdict_sentences(report)) EXPECT_THAT(sentence, Not(HasSubstr("below")));
}

TEST(Verdict, OfTooFewStepsSaysWhichOfTwoRanksMostlyArrivedLast) {
  Report report = clean_report(*sample_run());
  report.stragglers->cannot_tell = "only 2 counted steps";
  report.stragglers->last_arrivals = {};
  report.stragglers->last_arrivals.ranks = {{RankId{1}, 4}, {RankId{0}, 1}};
  report.stragglers->last_arrivals.counted = 5;
  report.stragglers->last_arrivals.by_operation = true;
  report.stragglers->last_arrivals.certainty = Certainty::of_two;
  const std::string hint =
      "Rank 1 arrived last in 4 of 5 operations: this is only a hint, since with only two ranks, the same rank can "
      "often arrive last without being slow.";
  EXPECT_THAT(verdict_sentences(report), Contains(hint));
  report.stragglers->cannot_tell.clear();
  EXPECT_THAT(verdict_sentences(report), Not(Contains(hint)));
}

TEST(Verdict, AHintIsNotTheWorstOfAllWhereErrorsHideWork) {
  Report report = clean_but_for(Counter::sources_failed);
  report.findings = {finding_of("fusable", FindingSeverity::minor, "27 % of the time pointwise kernels run in a row")};
  EXPECT_THAT(verdict_of(report).headline, StartsWith("No large problem was found in what can be judged;"));
}

TEST(Verdict, WithoutAStatedCauseHasTheStartOfTheAdvice) {
  Finding desync = finding_of("desync", FindingSeverity::major, "ranks of group dp disagree");
  desync.advice = "Compare what the ranks call: a condition that differs between ranks must not decide it.";
  EXPECT_THAT(verdict_sentences(report_with({desync})),
              ElementsAre("Ranks of group dp disagree.", "Compare what the ranks call."));
  desync.advice = "Gather each layer earlier (in FSDP: forward_prefetch), or move fewer bytes; see the docs.";
  EXPECT_THAT(verdict_sentences(report_with({desync})),
              Contains("Gather each layer earlier (in FSDP: forward_prefetch), or move fewer bytes."));
  desync.advice = "Compare what the ranks call: a condition that differs between ranks must not decide it.";
  desync.gain_ns_per_step = 4'560'000;
  EXPECT_THAT(verdict_sentences(report_with({desync})),
              Contains("Compare what the ranks call. Up to 4.56 ms per step (10 %) could be saved."));
}

TEST(Verdict, ASharesSizeIsUnknownForRanksWithoutSteps) {
  std::string text =
      "@lane 1 s7 kind=stream number=7 device=0\n1 compute 0 100 gemm lane=s7\n"
      "1 compute 900 1000 gemm lane=s7\n";
  for (int step = 0; step < 6; ++step)
    text += format("0 step {0}00 {1}00 step index={0}\n0 op {0}00 {1}00 work\n", step, step + 1);
  ReportOptions options;
  options.ranks = {RankId{1}};
  const Report report = analyze(*testing::run_of(text), options);
  ASSERT_TRUE(report.steps);
  EXPECT_THAT(verdict_of(report).headline, HasSubstr("how large a problem it is cannot be judged without complete "
                                                     "steps."));
}

TEST(Verdict, WithASlowRankTheQuestionIsWhetherOthersAreSlowToo) {
  Report report = slow_report(*sample_run());
  report.stragglers->cannot_tell = "only 2 counted steps (5 are needed, 25 for a firm verdict)";
  EXPECT_THAT(verdict_sentences(report), Contains("Cannot tell whether other ranks are slow, too: only 2 counted "
                                                  "steps (5 are needed, 25 for a firm verdict)."));
}

TEST(Verdict, QuestionsOfSeveralReasonsAreSentences) {
  Report report = clean_report(*sample_run());
  report.stragglers = unavailable("no step is complete on all ranks");
  report.collectives = unavailable("no collectives were recorded");
  EXPECT_THAT(verdict_of(report).headline,
              "Cannot tell whether a rank is slow: no step is complete on all ranks. Cannot tell how long ranks waited "
              "for each other: no collectives were recorded.");
}

TEST(Verdict, OfASlowRankSaysLongerThanWhat) {
  Report report = slow_report(*sample_run());
  EXPECT_THAT(verdict_sentences(report),
              Contains(HasSubstr("1.48 times as long as its peers', 12.3 ms more per step")));
  report.stragglers->rows.front().persistence = Persistence::transient;
  EXPECT_THAT(verdict_sentences(report),
              Contains(HasSubstr("In a step with a stall, the rank takes 12.3 ms longer than its peers")));
}

/// The RUN part of one screen.
std::string run_part(const std::string& text) {
  const auto run = testing::run_of(text);
  ReportOptions options;
  options.text = TextLength::one_screen;
  const std::string screen = render_text(analyze(*run, options), *run, options, Colour::no);
  const std::size_t begin = screen.find("RUN\n");
  return screen.substr(begin, screen.find("\n\n", begin) - begin);
}

TEST(BriefHead, SaysHowMuchOfTheRecordingIsInSteps) {
  const std::string steps =
      "0 step 0 500000 step index=0\n0 op 0 500000 work\n0 step 500000 1000000 step index=1\n"
      "0 op 500000 1000000 work\n";
  EXPECT_THAT(run_part(steps), Not(HasSubstr("in steps")));
  EXPECT_THAT(run_part(steps + "0 op 1500000 2000000 work\n"),
              HasSubstr(" · 2.00 ms recorded by rankscope, 1.00 ms of it in steps"));
  const auto run = testing::run_of(steps + "0 op 1500000 2000000 work\n");
  EXPECT_THAT(render_text(analyze(*run, {}), *run, {}, Colour::no), HasSubstr("1.00 ms of it in steps"));
}

TEST(BriefHead, CutsNothingOffThatHasNoRoomInOneLine) {
  const std::string text = run_part("@run source=\"" + std::string(90, 'x') +
                                    "\"\n0 step 0 500000 step index=0\n0 op 0 500000 work\n"
                                    "0 step 500000 1000000 step index=1\n0 op 500000 2000000 work\n");
  EXPECT_THAT(text, HasSubstr("in steps"));
}

TEST(Head, SaysWhichStepsThePyTorchHookDoesNotRecord) {
  const std::string steps = "0 step 0 500000 step index=0\n0 op 0 500000 work\n";
  const auto shown = [](const std::string& text) {
    const auto run = testing::run_of(text);
    return render_text(analyze(*run, {}), *run, {}, Colour::no);
  };
  EXPECT_THAT(shown("@run meta.pytorch_steps=optimizer\n" + steps), HasSubstr("does not record the first two"));
  EXPECT_THAT(shown(steps), Not(HasSubstr("does not record the first two")));
}

}  // namespace
}  // namespace rankscope::analyzer
