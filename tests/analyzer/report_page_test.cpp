#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/sample_report.h"
#include "rankscope/analyzer/render.h"
#include "render/html/elements.h"
#include "render/html/writer.h"
#include "split/step_columns.h"
#include "support/markup.h"

namespace rankscope::analyzer {
namespace {

using testing::badly_nested;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Tag;
using testing::tags_of;

std::string page_of(const Report& report) { return render_html(report, *sample_run(), {}); }

/// A report whose ranks have a split for each counted step.
Report with_steps(Report report) {
  for (Step& step : report.steps->steps) step.wall_ns = 45'600'000;
  for (RankRow& row : *report.rank_rows) {
    const TimeSplit one = row.total;
    row.per_step.assign(19, one);
    for (int i = 0; i < 18; ++i) row.total += one;
  }
  return report;
}

/// Widths of the bars of one chart, in their order.
std::vector<double> bar_widths(const std::string& page, const std::string& chart) {
  std::vector<double> widths;
  bool inside = false;
  for (const Tag& tag : tags_of(page)) {
    if (tag.name == "figure") inside = !tag.closes && tag.has("id=\"" + chart + "\"");
    if (!inside || tag.name != "rect" || !tag.has("class=\"mark")) continue;
    widths.push_back(std::stod(tag.attributes.substr(tag.attributes.find(" width=\"") + 8)));
  }
  return widths;
}

TEST(RenderHtml, TheVerdictComesFirstThenTheFindings) {
  const auto page = page_of(slow_report(*sample_run()));
  const auto verdict = page.find(">Rank 2 is slow: it computes more slowly than its peers.<");
  ASSERT_NE(verdict, std::string::npos);
  EXPECT_LT(page.find("<h2 id=\"verdict-title\">"), verdict);
  EXPECT_LT(verdict, page.find("<h2 id=\"findings-title\">"));
  EXPECT_THAT(page, HasSubstr("Look at the clock, the power limit and the neighbours of that device."));
  EXPECT_THAT(page, HasSubstr("up to 12.0 ms per step (26 %)"));
}

TEST(RenderHtml, TheFirstLinkLeadsToTheFirstSectionThatIsThere) {
  const auto run = sample_run();
  ReportOptions options;
  EXPECT_THAT(render_html(slow_report(*run), *run, options), HasSubstr("href=\"#verdict\">Skip to: Verdict</a>"));
  options.only = {"collectives"};
  const auto page = render_html(slow_report(*run), *run, options);
  EXPECT_THAT(page, HasSubstr("href=\"#collectives\">Skip to: Collectives</a>"));
  EXPECT_THAT(page, Not(HasSubstr("#verdict")));
}

TEST(RenderHtml, WhatWasAskedForByNameAndIsMissingSaysWhyAndNothingElse) {
  const auto run = sample_run();
  Report report = slow_report(*run);
  report.overlap = unavailable("no communication was recorded");
  report.flops = unavailable("something else");
  ReportOptions options;
  options.only = {"overlap"};
  const auto page = render_html(report, *run, options);
  EXPECT_THAT(page, HasSubstr("<dt>overlap</dt>"));
  EXPECT_THAT(page, HasSubstr("o communication was recorded."));
  EXPECT_THAT(page, Not(HasSubstr("omething else")));
}

TEST(RenderHtml, EveryTagIsClosedInItsOrder) {
  EXPECT_EQ(badly_nested(page_of(with_steps(slow_report(*sample_run())))), "");
  EXPECT_EQ(badly_nested(page_of(Report{})), "");
}

TEST(RenderHtml, NothingIsLoadedFromElsewhere) {
  const auto page = page_of(with_steps(slow_report(*sample_run())));
  for (const char* loader : {"http:", "https:", " src=", "url(", "@import"}) EXPECT_THAT(page, Not(HasSubstr(loader)));
  EXPECT_THAT(page, HasSubstr("default-src &#39;none&#39;"));
}

TEST(RenderHtml, NamesFromARecordingAreNeverMarkup) {
  const std::string hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\x1b[31m\xff\u202e";
  auto report = with_steps(slow_report(*sample_run()));
  report.source = hostile;
  report.clock.method = hostile;
  report.facts = {{hostile, hostile}};
  report.steps->source = hostile;
  report.rank_facts[0].host = report.rank_facts[0].program = hostile;
  (*report.rank_rows)[0].device = hostile;
  report.collectives->groups[0].group = report.collectives->groups[0].op = hostile;
  report.collectives->groups[0].why_no_busbw = report.collectives->key = hostile;
  report.stragglers->compared = report.stragglers->cannot_tell = hostile;
  Finding& finding = report.findings->front();
  finding.title = finding.evidence = finding.advice = hostile;
  report.data_quality = {{Counter::events_dropped, 3, {hostile}}};
  auto page = page_of(report);
  EXPECT_EQ(badly_nested(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("\x1b")));
  EXPECT_THAT(page, Not(HasSubstr("\u202e")));
  EXPECT_THAT(page, HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)"));
  report.steps = unavailable(hostile);
  page = page_of(report);
  EXPECT_EQ(badly_nested(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
}

TEST(RenderHtml, ASectionThatIsMissingIsNamedWithItsReason) {
  auto report = clean_report(*sample_run());
  report.steps = unavailable("the recording has no step marks");
  report.stragglers = unavailable("no steps");
  const auto page = page_of(report);
  EXPECT_THAT(page, Not(HasSubstr("id=\"steps\"")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"#steps\"")));
  EXPECT_THAT(page, HasSubstr("id=\"missing\""));
  EXPECT_THAT(page, HasSubstr("The recording has no step marks."));
  EXPECT_THAT(page, HasSubstr("Mark each step with an NVTX range"));
}

TEST(RenderHtml, TheBarsOfARankTogetherAreItsWindow) {
  const auto page = page_of(with_steps(clean_report(*sample_run())));
  const auto widths = bar_widths(page, "split-chart");
  ASSERT_FALSE(widths.empty());
  ASSERT_EQ(widths.size() % 4, 0U);  // all four ranks have the same parts
  double rank_0 = 0;
  for (std::size_t i = 0; i < widths.size() / 4; ++i) rank_0 += widths[i];
  EXPECT_NEAR(rank_0, html::chart_width - 88 - 24, 0.05);
}

TEST(RenderHtml, ThePageOfManyRanksAndStepsStaysBelowTwoMegabytes) {
  auto report = clean_report(*sample_run());
  report.steps = sample_steps(1000);
  for (std::uint32_t rank = 4; rank < 512; ++rank) {
    report.ranks.push_back(RankId{rank});
    report.rank_facts.push_back(report.rank_facts.front());
    report.rank_rows->push_back(sample_rank(rank, 25'000'000));
  }
  for (RankRow& row : *report.rank_rows) row.per_step.assign(999, row.total);
  const auto page = page_of(report);
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_THAT(page,
              HasSubstr("Shown: 32 of 512 ranks (slow ranks, and those whose own times differ most from the median)"));
}

TEST(RenderHtml, AStepThatIsNotCountedIsDrawnApartAndSaid) {
  const auto page = page_of(with_steps(clean_report(*sample_run())));
  EXPECT_THAT(page, HasSubstr("step 0: 45.6 ms (warm-up, not counted)"));
}

TEST(RenderHtml, ADashIsInTheTableWhereAStepHasNoOwnTimes) {
  const auto page = page_of(with_steps(clean_report(*sample_run())));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\" class=\"number\">0</th>\n<td class=\"number\">"));
  EXPECT_THAT(page, HasSubstr("<td>warm-up</td>\n<td class=\"number\">–</td>"));
}

TEST(RenderHtml, ASlowRankIsOrangeInTheMapOfLateness) {
  const auto page = page_of(with_steps(slow_report(*sample_run())));
  // 12.3 ms of a step of 45.6 ms
  EXPECT_THAT(page, HasSubstr("class=\"mark heat-6\""));
  EXPECT_THAT(page, HasSubstr("+12.35 ms relative to the median rank"));
}

TEST(RenderHtml, LatenessIsAgainstAllRanksWhateverIsShown) {
  auto report = with_steps(slow_report(*sample_run()));
  auto& rows = *report.rank_rows;
  report.asked_for.rows_left_out = {rows[0], rows[1], rows[3]};
  rows.erase(rows.begin() + 3);
  rows.erase(rows.begin(), rows.begin() + 2);
  EXPECT_THAT(page_of(report), HasSubstr("+12.35 ms relative to the median rank"));
}

TEST(RenderHtml, OneRankAloneHasOneMapAndIsToldSo) {
  auto report = with_steps(clean_report(*sample_run()));
  report.rank_rows->resize(1);
  const auto page = page_of(report);
  EXPECT_THAT(page, Not(HasSubstr("lateness-map")));
  EXPECT_THAT(page, Not(HasSubstr("lower map")));
  EXPECT_THAT(page, HasSubstr("An orange cell is a slow step."));
  EXPECT_THAT(page, HasSubstr("One bar for the only rank, divided"));
  EXPECT_THAT(page, HasSubstr("and a line with the own time of the only rank."));
}

TEST(RenderHtml, TheStepsChartSaysWhatItShows) {
  auto report = with_steps(clean_report(*sample_run()));
  EXPECT_THAT(page_of(report), HasSubstr("One column for each of 20 steps with a median of 45.6 ms, and one line for "
                                         "each of the 4 ranks with the own time of that rank. The table"));
  for (std::uint32_t rank = 4; rank < 20; ++rank) {
    report.rank_rows->push_back(sample_rank(rank, 25'000'000));
    report.rank_rows->back().per_step.assign(19, report.rank_rows->back().total);
  }
  EXPECT_THAT(page_of(report), HasSubstr("and lines with the own times of 16 of the 20 ranks. The table"));
  report.steps = sample_steps(1000);
  EXPECT_THAT(page_of(report), HasSubstr("Columns of up to 9 steps each, for 1000 steps with a median of 45.6 ms. "
                                         "The table"));
  report.steps = sample_steps(1);
  EXPECT_THAT(page_of(report), HasSubstr("One column for the only step, which took 45.6 ms. The table"));
}

TEST(RenderHtml, RanksThatTheMapsLeaveOutAreCountedWithTheWayToThem) {
  auto report = with_steps(clean_report(*sample_run()));
  for (std::uint32_t rank = 4; rank < 40; ++rank) {
    report.rank_rows->push_back(sample_rank(rank, 25'000'000));
    report.rank_rows->back().per_step.assign(19, report.rank_rows->back().total);
  }
  const auto page = page_of(report);
  const auto maps = page.substr(page.find("id=\"rank-steps\""));
  EXPECT_THAT(
      maps,
      HasSubstr(
          "Shown: 32 of 40 ranks (slow ranks, and those whose own times differ most from the median); a page made with "
          "--ranks shows others."));
}

TEST(RenderHtml, WhatIsMissingOfTheAcceleratorIsNamed) {
  auto report = clean_report(*sample_run());
  const auto missing = unavailable("none of the steps asked for is complete");
  report.launches = missing;
  report.kernels = missing;
  report.operators = missing;
  report.copies = missing;
  const auto page = page_of(report);
  for (const char* const name : {"Launches", "Kernels", "Operators", "Copies"})
    EXPECT_THAT(page, HasSubstr(std::string{"<dt>"} + name + "</dt>"));
}

TEST(StepColumns, EachStepHasItsOwnWhileTheyAreFew) {
  const auto columns = html::step_columns(sample_steps(20));
  ASSERT_EQ(columns.size(), 20U);
  EXPECT_EQ(columns[0].left_out, "warm-up");
  EXPECT_TRUE(columns[0].counted.empty());
  EXPECT_EQ(columns[5].name(), "step 5");
  EXPECT_THAT(columns[5].counted, ElementsAre(4));
}

TEST(StepColumns, ManyStepsShareThemAndTheirMeanIsShown) {
  auto steps = sample_steps(1000);
  for (Step& step : steps.steps) step.wall_ns = step.index;
  const auto columns = html::step_columns(steps);
  EXPECT_EQ(columns.size(), 112U);
  EXPECT_EQ(columns[1].name(), "steps 9 to 17");
  EXPECT_EQ(columns[1].wall_ns, 13);
  EXPECT_EQ(columns[0].wall_ns, 4);  // of steps 1 to 8; step 0 is warm-up
  EXPECT_EQ(columns[0].counted.size(), 8U);
  EXPECT_EQ(columns.back().name(), "step 999");
  EXPECT_EQ(html::note_on(columns), " Each column is the mean of up to 9 steps.");
  EXPECT_EQ(html::note_on(html::step_columns(sample_steps(20))), "");
}

TEST(TimeScale, TicksAreRoundAndAtMostSix) {
  for (std::int64_t longest = 1; longest < 4'000'000'000; longest += 1 + longest / 7) {
    const auto axis = html::time_scale(longest, 300);
    std::int64_t digit = axis.tick_ns;
    while (digit % 10 == 0) digit /= 10;
    EXPECT_TRUE(digit == 1 || digit == 2 || digit == 5) << axis.tick_ns;
    EXPECT_LE(axis.longest_ns / axis.tick_ns, 6) << "behind 0, for " << longest;
    EXPECT_GE(axis.longest_ns / axis.tick_ns, longest < 3 ? 1 : 2) << longest;
  }
  const auto scale = html::time_scale(161'000'000, 300);
  EXPECT_EQ(scale.tick_ns, 50'000'000);
  EXPECT_EQ(scale.unit, "ms");
  EXPECT_EQ(scale.label(150'000'000), "150");
  EXPECT_EQ(html::time_scale(1'200'000'000, 300).label(200'000'000), "0.2");
  EXPECT_EQ(html::time_scale(0, 300).tick_ns, 1);
}

TEST(Numbers, HaveNoNeedlessZeros) {
  EXPECT_EQ(html::number(12), "12");
  EXPECT_EQ(html::number(0.5), "0.5");
  EXPECT_EQ(html::number(-0.001), "0");
}

}  // namespace
}  // namespace rankscope::analyzer
