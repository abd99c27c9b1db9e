#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/lines_of.h"
#include "analyzer/sample_report.h"
#include "quality/parts.h"
#include "rankscope/analyzer/render.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string rendered(const Report& report, Colour colour = Colour::no, const ReportOptions& options = {}) {
  return render_text(report, *sample_run(), options, colour);
}

TEST(RenderText, TheVerdictComesFirstAndNamesRankKindSizeAndGain) {
  const auto text = rendered(slow_report(*sample_run()));
  EXPECT_THAT(text, StartsWith("VERDICT\n  Rank 2 is slow: it computes more slowly than its peers.\n"));
  EXPECT_THAT(text, HasSubstr("1.48 times as long as its peers', 12.3 ms more per step"));
  EXPECT_THAT(text, HasSubstr("would be about 12.0 ms (26 %) shorter."));
}

TEST(RenderText, EveryAnalysisThatIsMissingIsNamedWithItsReason) {
  Report report;
  report.ranks = {RankId{0}, RankId{1}};
  report.hta = unavailable("not computed");
  const auto missing = missing_sections(report);
  EXPECT_EQ(missing.size(), sections().size());
  for (const MissingSection& section : missing) EXPECT_EQ(section.why, "not computed") << section.name;
}

TEST(RenderText, RanksWithoutStepsAreSaidToBeInNoSum) {
  auto report = clean_report(*sample_run());
  EXPECT_THAT(rendered(report), Not(HasSubstr("Without steps")));
  (*report.rank_rows)[0].per_step.clear();
  EXPECT_THAT(rendered(report), HasSubstr("No steps were recorded on rank 0, whose numbers therefore cover"));
}

TEST(RenderText, ACleanRunWithAllSectionsHasNoProblem) {
  const auto text = rendered(clean_report(*sample_run()));
  EXPECT_THAT(text, StartsWith("VERDICT\n  No problem found in 20 steps of 4 ranks."));
  EXPECT_THAT(text, HasSubstr("slower by 6.0 % or more in two thirds of the steps would have been found"));
}

TEST(RenderText, ASlowRankThatIsNotShownIsNamed) {
  auto report = clean_report(*sample_run());
  report.asked_for.ranks = {RankId{0}, RankId{1}};
  report.asked_for.slow_ranks_left_out = slow_report(*sample_run()).stragglers->rows;
  const auto text = rendered(report);
  EXPECT_THAT(
      text,
      StartsWith("VERDICT\n  Rank 2, which is not shown, is slow (1.48 x): it computes more slowly than its peers.\n"));
  EXPECT_THAT(text, HasSubstr("No problem found in 20 steps of the 2 ranks shown."));
  EXPECT_THAT(text,
              HasSubstr("SLOW RANKS\n  None of the ranks shown is slow. Rank 2, which is not shown, is slow (1.48 x)"));
}

TEST(RenderText, RanksThatMayBeSlowAreNotSaidToBeFastBesideOneThatIsNotShown) {
  auto report = clean_report(*sample_run());
  report.asked_for.ranks = {RankId{0}, RankId{1}};
  report.asked_for.slow_ranks_left_out = slow_report(*sample_run()).stragglers->rows;
  report.stragglers->cannot_tell = "the host was busy";
  const auto text = rendered(report);
  EXPECT_THAT(text, HasSubstr("SLOW RANKS\n  Rank 2, which is not shown, is slow (1.48 x)"));
  EXPECT_THAT(text, Not(HasSubstr("None of the ranks shown")));
  EXPECT_THAT(text, HasSubstr("Cannot tell whether other ranks are slow, too: the host was busy."));
}

TEST(RenderText, ARankThatBecameSlowIsSaidWithTheStep) {
  auto report = slow_report(*sample_run());
  auto& row = report.stragglers->rows.front();
  row.since_step = 14;
  row.gain_ns_while_slow = 12'000'000;
  row.step_ns_while_slow = 48'000'000;
  row.gain_ns_per_step = 3'600'000;
  const auto text = rendered(report);
  EXPECT_THAT(text, StartsWith("VERDICT\n  Rank 2 is slow from step 14 on: it computes more slowly than its peers.\n"));
  EXPECT_THAT(text, HasSubstr("12.3 ms more in each of these steps"));
  EXPECT_THAT(text, HasSubstr("12.0 ms (25 %)"));
  EXPECT_THAT(text, HasSubstr("an\n  average step of the run about 3.60 ms (7.9 %)"));
  EXPECT_THAT(text, HasSubstr("from step 14 on"));
}

TEST(RenderText, ASavingAboveWhatTheRankLosesIsExplained) {
  auto report = slow_report(*sample_run());
  EXPECT_THAT(rendered(report), Not(HasSubstr("exceed")));
  report.stragglers->rows.front().gain_ns_per_step = 14'000'000;
  EXPECT_THAT(rendered(report), HasSubstr("exceed")) << "12.3 ms more per step";
}

TEST(RenderText, WaitsThatAreUnknownAreNotZero) {
  auto report = clean_report(*sample_run());
  auto& group = report.collectives->groups.front();
  group.wait_ns = group.transfer_ns = 0;
  group.without_wait = group.without_transfer = group.count;
  group.why_no_wait = group.why_no_transfer = "missing on at least one rank of the group";
  const auto text = rendered(report);
  EXPECT_THAT(text, Not(HasSubstr("0 ns")));
  EXPECT_THAT(
      text,
      HasSubstr("No waiting or transfer is shown for some operations: missing on at least one rank of the group. "));
}

TEST(RenderText, OfARecordingThatIsCutASlowRankThatIsNotShownIsNamedOnce) {
  auto report = clean_report(*sample_run());
  report.asked_for.ranks = {RankId{0}};
  report.asked_for.slow_ranks_left_out = slow_report(*sample_run()).stragglers->rows;
  report.data_quality = {{Counter::truncated_input, 1}};
  const auto text = rendered(report);
  const std::string verdict = text.substr(0, text.find("\nRUN"));
  const auto first = verdict.find("Rank 2, which is not shown, is slow");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(verdict.find("Rank 2, which", first + 1), std::string::npos) << verdict;
}

TEST(RenderText, WhatNeedsAnAcceleratorIsMissedOnlyWhereThereIsOne) {
  auto report = clean_report(*sample_run());
  report.launches = unavailable("the recording has no launch calls");
  report.operators = unavailable(std::string{no_accelerator}, Missed::no);
  const auto text = rendered(report);
  EXPECT_THAT(text, HasSubstr("Launches                the recording has no launch calls."));
  EXPECT_THAT(text, Not(HasSubstr("Operators")));
}

TEST(RenderText, WithoutStepsItCannotTellAndSaysHowToGetThem) {
  auto report = clean_report(*sample_run());
  report.steps = unavailable("the recording has no step marks");
  report.stragglers = unavailable("no steps");
  const auto text = rendered(report);
  EXPECT_THAT(
      text,
      StartsWith(
          "VERDICT\n  Cannot tell which rank is slow or how long a step takes: the recording has no step marks."));
  EXPECT_THAT(text, Not(HasSubstr("No problem")));
  EXPECT_THAT(text, HasSubstr("Mark each step with an NVTX range"));
  EXPECT_THAT(text, HasSubstr("nvtxRangePush"));
  EXPECT_THAT(text, Not(HasSubstr("torch.cuda.nvtx")));
  report.uses_pytorch = true;
  EXPECT_THAT(rendered(report), HasSubstr("torch.cuda.nvtx.range"));
}

TEST(RenderText, WithoutStepsTheAdviceNamesTheOptionThatLeftThemOut) {
  auto report = clean_report(*sample_run());
  report.steps = unavailable("no step marks were recorded");
  report.facts = {{"collect", "host"}};
  EXPECT_THAT(rendered(report), HasSubstr("--collect left"));
  report.facts = {{"collect", "annotate,host"}, {"stopped_by", "duration"}};
  EXPECT_THAT(rendered(report), HasSubstr("the time given by --duration"));
  EXPECT_THAT(rendered(report), Not(HasSubstr("Mark each step")));
}

TEST(RenderText, ACutInputIsSaidFirst) {
  auto report = clean_report(*sample_run());
  report.data_quality = {{.counter = Counter::truncated_input, .value = 1}};
  EXPECT_THAT(rendered(report), StartsWith("VERDICT\n  The input is cut short: work after the cut is missing"));
  EXPECT_THAT(rendered(report), HasSubstr("No problem was found in what can be judged."));
}

TEST(RenderText, NoiseThatHidesSlowRanksIsNoCleanBill) {
  auto report = clean_report(*sample_run());
  report.stragglers->cannot_tell = "slowdowns below 31 % cannot be detected";
  const auto text = rendered(report);
  EXPECT_THAT(text,
              StartsWith("VERDICT\n  Cannot tell whether a rank is slow: slowdowns below 31 % cannot be detected."));
  EXPECT_THAT(
      text, HasSubstr("SLOW RANKS\n  Cannot tell whether a rank is slow: slowdowns below 31 % cannot be detected.\n"));
  EXPECT_THAT(text, HasSubstr("Nothing was found in the data that could be judged"));
  EXPECT_THAT(text, Not(HasSubstr("No slow rank was found")));
  EXPECT_THAT(text, Not(HasSubstr("None.")));
}

TEST(RenderText, ALostRankIsTheVerdict) {
  auto report = clean_report(*sample_run());
  report.findings = std::vector<Finding>{{.id = "rank_lost",
                                          .severity = FindingSeverity::critical,
                                          .title = "Rank 1 was lost in step 5",
                                          .evidence = "its recording stops there",
                                          .advice = "look at its log",
                                          .gain_ns_per_step = 0,
                                          .rank = RankId{1},
                                          .step = 5}};
  EXPECT_THAT(rendered(report), StartsWith("VERDICT\n  Rank 1 was lost in step 5."));
}

TEST(RenderText, ASlowRankLeadsBeforeSharesOfTimeThatNameNoRank) {
  auto report = slow_report(*sample_run());
  report.stragglers->rows[0].severity = FindingSeverity::major;
  Finding worse;
  worse.id = "idle";
  worse.severity = FindingSeverity::critical;
  worse.title = "52 % of the time, nothing runs";
  report.findings = {worse};
  EXPECT_THAT(rendered(report), StartsWith("VERDICT\n  Rank 2 is slow"));
  EXPECT_THAT(rendered(report), HasSubstr("  52 % of the time, nothing runs.\n")) << "and it is not kept back";
  report.findings->front().id = "desync";
  EXPECT_THAT(rendered(report), StartsWith("VERDICT\n  52 %"));
}

TEST(RenderText, WhatWaitingProvesIsSaidOfTheAverageStep) {
  auto report = slow_report(*sample_run());
  report.stragglers->rows[0].on_average = true;
  EXPECT_THAT(rendered(report),
              HasSubstr("On average its own work takes 1.48 times as long as its peers', 12.3 ms more per step"));
}

TEST(RenderText, TheSlowerOfTwoIsNotCalledSlow) {
  auto report = slow_report(*sample_run());
  report.stragglers->rows[0].certainty = Certainty::of_two;
  EXPECT_THAT(rendered(report), HasSubstr("Rank 2 is the slower of two"));
}

TEST(RenderText, OfFewStepsVerdictAndSectionsSayTheSame) {
  auto report = slow_report(*sample_run());
  report.stragglers->rows[0].certainty = Certainty::few_steps;
  report.stragglers->cannot_tell = "only 2 counted steps";
  const auto text = rendered(report);
  EXPECT_THAT(text, StartsWith("VERDICT\n  Rank 2 looks slow in these few steps: it computes"));
  EXPECT_THAT(text, HasSubstr("Cannot tell whether other ranks are slow, too: only 2 counted steps."));
  EXPECT_THAT(text, HasSubstr("few steps\n"));
  EXPECT_THAT(text, Not(HasSubstr("fact\n")));
}

TEST(RenderText, WhatIsMissingIsAskedForInTheWordsOfTheTool) {
  auto report = clean_report(*sample_run());
  report.steps = unavailable("no step marks were recorded");
  report.collectives = unavailable("no collectives were recorded");
  report.data_quality = {{Counter::ranks_missing, 1}, {Counter::rank_unknown, 1}};
  for (const char* source : {"kineto", "nsys"}) {
    report.source = source;
    const auto text = rendered(report);
    for (const char* own : {"rankscope record", "--rank-env", "annotate.h", "Record every rank"})
      EXPECT_THAT(text, Not(HasSubstr(own))) << source;
  }
  EXPECT_THAT(rendered(report), HasSubstr("--trace=cuda,nvtx"));
  report.source = "kineto";
  EXPECT_THAT(rendered(report), HasSubstr("prof.step()"));
  EXPECT_THAT(rendered(report), HasSubstr("record_shapes=True"));
}

TEST(RenderText, NoNewerVersionIsAskedForWhereNoneWritesGroups) {
  auto report = clean_report(*sample_run());
  report.collectives = unavailable("the recording does not say which ranks took part in the collectives");
  report.source = "kineto";
  EXPECT_THAT(rendered(report), Not(HasSubstr("Use PyTorch 2.4 or later"))) << "nothing shows that it uses NCCL";
  report.overlap = OverlapSection{};
  report.overlap->rows = {{.group = "", .op = "ncclDevKernel_AllReduce_Sum_f32_RING_LL", .comm_ns = 50}};
  EXPECT_THAT(rendered(report), HasSubstr("Use PyTorch 2.4 or later"));
  report.facts.emplace_back("backend", "gloo");
  EXPECT_THAT(rendered(report), Not(HasSubstr("Use PyTorch 2.4 or later")));
  EXPECT_THAT(rendered(report), HasSubstr("Record the job with `rankscope record`"));
}

TEST(RenderText, AReasonIsSaidOnce) {
  auto report = clean_report(*sample_run());
  report.steps = unavailable("the files are from different jobs");
  report.collectives = unavailable("the files are from different jobs");
  EXPECT_THAT(
      rendered(report),
      StartsWith("VERDICT\n  Cannot tell which rank is slow, how long a step takes or how long ranks waited for each "
                 "other: the\n  files are from different jobs."));
}

TEST(RenderText, NoLineIsWiderThanAHundredColumnsOrEndsInBlanks) {
  auto report = slow_report(*sample_run());
  (*report.rank_rows)[1].device = std::string(300, 'd');
  report.rank_facts[1].host = std::string(300, 'h');
  report.findings->front().evidence = std::string(250, 'x') + " " + std::string(400, 'y');
  report.facts.emplace_back(std::string(60, 'k'), std::string(300, 'v'));
  report.collectives->groups.front().group = std::string(200, 'g');
  report.data_quality = {{Counter::rank_unknown, 3}, {Counter::events_dropped, 1}};
  for (const auto& line : lines_of(rendered(report))) {
    EXPECT_LE(display_width(line), 100U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
}

TEST(RenderText, SharesAddUpToAHundredPercent) {
  auto report = clean_report(*sample_run());
  auto& split = (*report.rank_rows)[0].total;
  split.window_ns = 3;
  split.compute_ns = split.exposed_comm_ns = split.idle_ns = 1;
  split.memory_ns = 0;
  EXPECT_THAT(rendered(report), HasSubstr("33.4 %  33.3 %   0.0 %  33.3 %"));
}

TEST(RenderText, NamesCannotSteerTheTerminal) {
  auto report = slow_report(*sample_run());
  report.rank_facts[0].host = "n\x1b[2J";
  report.facts.emplace_back(
      "mo\x07"
      "del",
      "a\x9b"
      "b\nc");
  report.findings->front().title = "\x1b]0;evil\x07";
  const auto text = rendered(report);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("n\\x1b[2J"));
}

TEST(RenderText, ColourOnlyIfAsked) {
  const auto report = slow_report(*sample_run());
  EXPECT_EQ(rendered(report).find('\x1b'), std::string::npos);
  EXPECT_NE(rendered(report, Colour::yes).find("\x1b[1;31mRank 2 is slow"), std::string::npos);
}

TEST(RenderText, OfManyRanksTheSlowOnesAreShown) {
  auto report = slow_report(*sample_run());
  for (std::uint32_t rank = 4; rank < 200; ++rank) report.rank_rows->push_back(sample_rank(rank, 25'000'000));
  const auto text = rendered(report);
  EXPECT_THAT(text, HasSubstr("16 of 200 ranks"));
  EXPECT_THAT(text, HasSubstr("81.9 %"));
}

TEST(Words, DurationsHaveThreeDigits) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(999), "999 ns");
  EXPECT_EQ(duration_text(12'345), "12.3 µs");
  EXPECT_EQ(duration_text(999'999), "1.00 ms");
  EXPECT_EQ(duration_text(1'234'567'890), "1.23 s");
  EXPECT_EQ(duration_text(-45'600'000), "-45.6 ms");
}

TEST(Words, PartsAddUpToTheWhole) {
  EXPECT_THAT(apportioned(std::vector<std::int64_t>{1, 1, 1}, 100), ElementsAre(34, 33, 33));
  EXPECT_THAT(apportioned(std::vector<std::int64_t>{0, 0}, 100), ElementsAre(0, 0));
  EXPECT_THAT(apportioned(std::vector<std::int64_t>{86'400'000'000'000'000, 1}, 1'000'000), ElementsAre(1'000'000, 0));
}

TEST(Words, LongTextBreaksAtSpacesAndLongWordsWhereTheyMust) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("it took 7.99 ms, or 12 % more", 12), ElementsAre("it took", "7.99 ms, or", "12 % more"))
      << "a number stays with its unit";
  EXPECT_THAT(wrapped("gaps (≤ 10 µs)", 11), ElementsAre("gaps (≤", "10 µs)"));
  EXPECT_THAT(wrapped("1234 ms", 5), ElementsAre("1234", "ms")) << "there is no room for both";
  EXPECT_THAT(wrapped("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("", 3), ElementsAre(""));
}

TEST(Words, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(display_width("µs █"), 4U);
  EXPECT_EQ(display_width("漢字"), 4U);
  EXPECT_EQ(shortened("漢字漢字", 5), "漢字…");
  EXPECT_EQ(shortened_inside("漢字漢字", 6), "漢…字");
  EXPECT_EQ(shortened_inside("abcdefghij", 5), "ab…ij");
  EXPECT_EQ(shortened_inside("abcde", 5), "abcde");
}

}  // namespace
}  // namespace rankscope::analyzer
