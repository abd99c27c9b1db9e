// The text of one screen: what is on it, in which order, and that it never is longer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/lines_of.h"
#include "analyzer/sample_report.h"
#include "rankscope/analyzer/render.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string screen(const Report& report, ReportOptions options = {}) {
  options.text = TextLength::one_screen;
  return render_text(report, *sample_run(), options, Colour::no);
}

/// First words of the lines that begin in the first column.
std::vector<std::string> headings_of(const std::string& text) {
  std::vector<std::string> headings;
  for (const std::string& line : lines_of(text))
    if (!line.empty() && line.front() != ' ')
      headings.push_back(line.substr(0, std::min(line.find(':'), line.find("  "))));
  return headings;
}

void expect_fits(const std::string& text) {
  const auto lines = lines_of(text);
  EXPECT_LE(lines.size(), 60U) << text;
  for (const std::string& line : lines) {
    EXPECT_LE(display_width(line), 100U) << line;
    EXPECT_FALSE(line.ends_with(' ')) << line;
  }
  EXPECT_THAT(lines.back(), StartsWith("All sections: --full")) << "the last line says how to see more";
  EXPECT_EQ(text.find("\n\n\n"), std::string::npos) << "two blank lines";
}

std::vector<Finding> many_findings(std::size_t count) {
  std::vector<Finding> findings;
  for (std::size_t i = 0; i < count; ++i) {
    Finding& one = findings.emplace_back();
    one.id = "idle.host";
    one.severity = i == 0 ? FindingSeverity::critical : FindingSeverity::minor;
    one.title = "finding " + std::to_string(i) + " of a title that is as long as titles are";
    for (int word = 0; word < 40; ++word) one.evidence += word == 0 ? "evidence" : " evidence";
    one.advice = "do something about it";
  }
  return findings;
}

/// As much as can be said of a run of so many ranks.
Report crowded_report(std::uint32_t ranks) {
  Report report = slow_report(*sample_run());
  for (std::uint32_t rank = 4; rank < ranks; ++rank) {
    report.ranks.push_back(RankId{rank});
    report.rank_rows->push_back(sample_rank(rank, 25'000'000));
    for (const char* slow : {"compute", "host"}) {
      Straggler row = slow_rank_2();
      row.rank = RankId{rank};
      row.kind = slow[0] == 'c' ? StragglerKind::compute : StragglerKind::host;
      report.stragglers->rows.push_back(row);
    }
  }
  report.world_size = ranks + 1;
  report.findings = many_findings(30);
  report.stragglers->cannot_tell = std::string(600, 'c');
  report.facts.emplace_back("command", "torchrun train.py " + std::string(4000, 'x'));
  report.began_unix_ns = 1'772'374'000'000'000'000;
  report.memory = unavailable(std::string(500, 'm'));
  report.flops = unavailable(std::string(500, 'm'));
  report.launches = unavailable("the recording has no launch calls");
  report.data_quality = {{Counter::events_dropped, 7, {std::string(300, 'w')}},
                         {Counter::segment_cut, 1, {"n0-7-9.rseg (rank 1)"}},
                         {Counter::ranks_missing, 1},
                         {Counter::rank_unknown, 3}};
  return report;
}

TEST(OneScreen, HasVerdictRunFindingsAndOneBarPerRankInThisOrder) {
  const auto text = screen(slow_report(*sample_run()));
  EXPECT_THAT(text, StartsWith("VERDICT\n  Rank 2 is slow: it computes more slowly than its peers.\n"));
  EXPECT_THAT(headings_of(text),
              ElementsAre("VERDICT", "RUN", "FINDINGS", "WHERE THE TIME WENT", "NOT AVAILABLE", "All sections"));
  EXPECT_THAT(text, HasSubstr("Look at the clock, the power limit and the neighbours of that device."));
  EXPECT_THAT(text, Not(HasSubstr("Milliseconds per step")));
  expect_fits(text);
}

TEST(OneScreen, ManyFindingsLongTextsAndLostDataFitOfEightRanks) {
  const auto text = screen(crowded_report(8));
  expect_fits(text);
  EXPECT_THAT(headings_of(text), ElementsAre("VERDICT", "RUN", "FINDINGS", "WHERE THE TIME WENT", "DATA QUALITY",
                                             "NOT AVAILABLE", "All sections"));
  EXPECT_THAT(text, HasSubstr("critical  finding 0 of a title"));
  EXPECT_THAT(text, ::testing::ContainsRegex(" more: finding .*; --full shows them\n"));
}

TEST(OneScreen, OfSixtyFourRanksTheBarsAreThoseFarthestFromTheOthers) {
  const auto text = screen(crowded_report(64));
  expect_fits(text);
  EXPECT_THAT(text, HasSubstr("8 of 64 ranks"));
  EXPECT_THAT(text, HasSubstr("81.9 %")) << "the slow one is among them";
}

TEST(OneScreen, AVerdictThatIsTooLongIsCutAndTheLimitHolds) {
  auto report = crowded_report(8);
  report.stragglers->cannot_tell = std::string(9000, 'c');
  report.asked_for.ranks = {RankId{0}, RankId{2}};
  const auto text = screen(report);
  expect_fits(text);
  EXPECT_THAT(text, HasSubstr("…; --full shows the rest."));
}

TEST(OneScreen, FindingsThatFitAreAllThere) {
  auto report = slow_report(*sample_run());
  report.findings = many_findings(3);
  const auto text = screen(report);
  EXPECT_THAT(text, HasSubstr("finding 2 of"));
  EXPECT_THAT(text, Not(HasSubstr(" more: ")));
}

TEST(OneScreen, OnlyLossesAndErrorsAreSaidOfTheData) {
  auto report = clean_report(*sample_run());
  EXPECT_THAT(screen(report), Not(HasSubstr("DATA QUALITY")));
  report.data_quality = {{Counter::pace_overruns, 29}};
  EXPECT_THAT(screen(report), Not(HasSubstr("DATA QUALITY"))) << "not even where there is something to know";
  report.data_quality = {{Counter::pace_overruns, 29}, {Counter::segment_cut, 1, {"n0-7-9.rseg (rank 1)"}}};
  EXPECT_THAT(screen(report),
              HasSubstr("DATA QUALITY  segment cut: 1 in n0-7-9.rseg (rank 1); --full says what to do\n"));
}

TEST(OneScreen, WhatIsNotAvailableIsNamedAndExplainedWhereTheVerdictNeedsIt) {
  auto report = clean_report(*sample_run());
  report.launches = unavailable("the recording has no launch calls");
  const auto harmless = screen(report);
  EXPECT_THAT(harmless, HasSubstr("NOT AVAILABLE  "));
  EXPECT_THAT(harmless, Not(HasSubstr("no launch calls")));
  report.steps = unavailable("no step marks were recorded");
  report.stragglers = unavailable("no steps");
  const auto text = screen(report);
  EXPECT_THAT(text, StartsWith("VERDICT\n  Cannot tell which rank is slow or how long a step takes: no step marks"));
  EXPECT_THAT(text, HasSubstr("NOT AVAILABLE  Slow ranks, "));
  EXPECT_THAT(text, HasSubstr("Mark each step with an NVTX range")) << "what it would take";
}

TEST(OneScreen, TheAdviceOnRanksThatAreMissingIsThatOfTheirFinding) {
  auto report = clean_report(*sample_run());
  report.source = "kineto";
  report.ranks = {RankId{0}};
  report.stragglers = unavailable("only 1 of 4 ranks was recorded");
  EXPECT_THAT(screen(report), HasSubstr("Profile all ranks"));
  report.data_quality = {{Counter::ranks_missing, 3}};
  EXPECT_THAT(screen(report), Not(HasSubstr("Profile all ranks")));
}

TEST(OneScreen, OfRanksThatAreMissingOnlyTheAdviceOnGroupsIsNotThatOfTheirFinding) {
  auto report = clean_report(*sample_run());
  report.source = "kineto";
  report.ranks = {RankId{0}};
  report.stragglers = unavailable("only 1 of 4 ranks was recorded");
  report.collectives = unavailable("the recording does not say which ranks took part in the collectives");
  report.data_quality = {{Counter::ranks_missing, 3}};
  report.overlap = OverlapSection{};
  report.overlap->rows = {{.group = "", .op = "dispatch", .comm_ns = 50}};
  for (const char* advice : {"Give the files", "PyTorch 2.4"}) EXPECT_THAT(screen(report), Not(HasSubstr(advice)));
  report.overlap->rows = {{.group = "", .op = "ncclDevKernel_SendRecv", .comm_ns = 50}};
  EXPECT_THAT(screen(report),
              HasSubstr("\n  Use PyTorch 2.4 or later: it records the group of each NCCL collective.\n"));
}

TEST(OneScreen, NameDateAndCommandAreInOneLine) {
  auto report = clean_report(*sample_run());
  EXPECT_THAT(screen(report),
              HasSubstr("\n  4 ranks · 20 steps (19 of them counted) of 45.6 ms · 912 ms recorded by rankscope\n\n"))
      << "nothing is known: nothing is said";
  report.began_unix_ns = 1'772'374'000'000'000'000;
  report.facts.emplace_back("command", "torchrun train.py\n--lr 1");
  ReportOptions options;
  options.run_name = "night.rankscope";
  EXPECT_THAT(screen(report, options),
              HasSubstr("\n  night.rankscope · 2026-03-01 14:06 UTC · torchrun train.py\\x0a--lr 1\n"));
}

TEST(OneScreen, ClocksAreOnlySaidWhereTheyLimitTheVerdict) {
  auto report = clean_report(*sample_run());
  EXPECT_THAT(screen(report), Not(HasSubstr("Clocks")));
  report.clock.method = "none";
  EXPECT_THAT(screen(report), HasSubstr("Clocks: the ranks have no common clock; their times are not compared."));
}

TEST(OneScreen, OneStepHasNoSpread) {
  auto report = clean_report(*sample_run());
  report.steps = sample_steps(2);  // the first is warm-up
  EXPECT_THAT(screen(report), HasSubstr("2 steps (1 of them counted) of 45.6 ms · "));
}

TEST(OneScreen, SectionsThatAreAskedForAreShownWhole) {
  ReportOptions options;
  options.only = {"ranks"};
  EXPECT_THAT(screen(slow_report(*sample_run()), options), HasSubstr("Milliseconds per step"));
}

TEST(OneScreen, ItsVerdictIsTheOneThatTheViewerShows) {
  const auto report = slow_report(*sample_run());
  const auto sentences = verdict_sentences(report);
  std::string text = "VERDICT\n";
  for (const std::string& sentence : sentences)
    for (const std::string& line : wrapped(sentence, 98)) text += "  " + line + "\n";
  EXPECT_THAT(screen(report), StartsWith(text + "\n"));
}

TEST(RenderHtml, NameDateAndCommandAreAtItsTop) {
  auto report = clean_report(*sample_run());
  report.began_unix_ns = 1'772'374'000'000'000'000;
  report.facts.emplace_back("command", "torchrun <train>.py");
  ReportOptions options;
  options.run_name = "night.rankscope";
  const auto page = render_html(report, *sample_run(), options);
  EXPECT_THAT(page, HasSubstr("night.rankscope · 2026-03-01 14:06 UTC</p>"));
  EXPECT_LT(page.find("torchrun &lt;train&gt;.py</p>"), page.find("verdict-title"));
}

TEST(Words, LinesThatAreTakenLeaveAtLeastOne) {
  EXPECT_EQ(lines_left(60, 45), 15U);
  EXPECT_EQ(lines_left(60, 59), 1U);
  for (const std::size_t taken : {60U, 61U, 900U}) EXPECT_EQ(lines_left(60, taken), 1U);
}

TEST(Words, AListSaysHowManyItLeavesOut) {
  EXPECT_EQ(listed(std::vector<std::string>{"one", "two", "three"}, ", ", 15), "one, two, three");
  EXPECT_EQ(listed(std::vector<std::string>{"one", "two", "three"}, ", ", 14), "one and 2 more");
  EXPECT_EQ(listed(std::vector<std::string>{"abcdefgh"}, ", ", 5), "abcd…");
  EXPECT_EQ(listed(std::vector<std::string>{}, ", ", 5), "");
}

}  // namespace
}  // namespace rankscope::analyzer
