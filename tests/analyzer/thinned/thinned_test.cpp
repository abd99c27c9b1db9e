// Steps of which a recording has sums only, since their events were thinned out while the job ran.
#include "thinned/parts.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/find.h"

namespace rankscope::analyzer {
namespace {

using testing::run_of;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t compute_ns = 60 * ms;
constexpr std::int64_t slow_ns = 90 * ms;
constexpr std::int64_t transfer_ns = 10 * ms;

/// A run of ranks that reduce once in each step. Steps below `full_from` are sums.
struct ThinnedPlan {
  std::uint32_t ranks = 4;
  std::int64_t steps = 80;
  std::int64_t full_from = 60;
  std::uint32_t slow_rank = 1;
  std::int64_t slow_until = 30;  ///< slow in the steps before
};

void add_step(const ThinnedPlan& plan, std::uint32_t rank, std::int64_t step, std::int64_t begin, std::string& text) {
  const bool any_slow = step < plan.slow_until;
  // A little noise, which is the same in each run.
  const std::int64_t noise = (step * 7 + rank * 13) % 5 * ms / 10;
  const std::int64_t own = (any_slow && rank == plan.slow_rank ? slow_ns : compute_ns) + noise;
  const std::int64_t end = begin + (any_slow ? slow_ns : compute_ns) + transfer_ns + ms;
  if (step < plan.full_from) {
    text += format(
        "{} step {} {} step index={} thinned=1 window_ns={} compute_ns={} communication_ns={} copies_ns=0 data_ns=0 "
        "wait_ns=0 \"bytes\"=4096 operations=1\n",
        rank, begin, end, step, end - begin, own, end - begin - own);
    return;
  }
  text += format("{} step {} {} step index={}\n", rank, begin, end, step);
  text += format("{} forward {} {} forward\n", rank, begin, begin + own);
  text += format("{} comm {} {} allreduce group=dp seq={}\n", rank, begin + own, end, step);
}

std::string text_of(const ThinnedPlan& plan) {
  std::string members;
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) members += format("{}{}", rank > 0 ? "," : "", rank);
  std::string text = format("@run world_size={} clock=same_host clock_error=1000\n", plan.ranks);
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) text += format("@rank {}\n", rank);
  text += format("@group dp {}\n", members);
  for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
    std::int64_t begin = 0;
    for (std::int64_t step = 0; step < plan.steps; ++step) {
      add_step(plan, rank, step, begin, text);
      begin += (step < plan.slow_until ? slow_ns : compute_ns) + transfer_ns + ms;
    }
  }
  return text;
}

Report report_of(const ThinnedPlan& plan) { return analyze(*run_of(text_of(plan)), {}); }

Report report_of_steps(const Run& run, const StepRange& steps) {
  ReportOptions options;
  options.steps = steps;
  return analyze(run, options);
}

TEST(ThinnedSteps, ARankThatWasSlowInThemIsNamedWithItsSteps) {
  const Report report = report_of({});
  ASSERT_TRUE(report.stragglers) << report.stragglers.error().why;
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  const Straggler& row = report.stragglers->rows.front();
  EXPECT_EQ(row.rank, RankId{1});
  EXPECT_EQ(row.kind, StragglerKind::compute);
  EXPECT_NEAR(row.slowdown, 1.5, 0.05);
  ASSERT_TRUE(row.until_step);
  EXPECT_NEAR(static_cast<double>(*row.until_step), 29, 10);
}

TEST(ThinnedSteps, NobodyIsNamedWhereAllRanksAreEquallyFast) {
  const Report report = report_of({.slow_until = 0});
  ASSERT_TRUE(report.stragglers) << report.stragglers.error().why;
  EXPECT_TRUE(report.stragglers->rows.empty());
}

TEST(ThinnedSteps, OtherSectionsCoverTheFullSteps) {
  const Report report = report_of({});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->steps.size(), 20U);
  EXPECT_EQ(report.steps->steps.front().index, 60);
  ASSERT_TRUE(report.rank_rows);
  EXPECT_EQ(report.rank_rows->front().per_step.size(), 20U);
  ASSERT_TRUE(report.thinned);
  EXPECT_EQ(report.thinned->first_full_step, 60);
  EXPECT_EQ(report.thinned->indices.size(), 60U);
  EXPECT_EQ(report.thinned->rows.front().per_step.size(), 80U) << "all steps, to compare ranks in them";
}

TEST(ThinnedSteps, SumsAddUpToTheStep) {
  const Report report = report_of({});
  ASSERT_TRUE(report.thinned);
  ASSERT_EQ(report.thinned->ranks.size(), 4U);
  for (const ThinnedRank& rank : report.thinned->ranks) {
    const TimeSplit& total = rank.total;
    EXPECT_EQ(total.compute_ns + total.exposed_comm_ns + total.memory_ns + total.idle_ns, total.window_ns);
    EXPECT_EQ(total.wait_ns + total.transfer_ns + total.unsplit_ns, total.comm_ns);
    EXPECT_EQ(rank.bytes, 60 * 4096);
    EXPECT_EQ(rank.operations, 60);
  }
  const ThinnedRank& slow = report.thinned->ranks[1];
  const ThinnedRank& fast = report.thinned->ranks[0];
  EXPECT_LT(slow.wait_at_least_ns, 60 * ms);
  EXPECT_GT(fast.wait_at_least_ns, 30 * 25 * ms) << "for the slow one, in 30 steps";
}

TEST(ThinnedSteps, ThatTheyWereThinnedOutIsSaid) {
  const auto run = run_of(text_of({}));
  const Report report = analyze(*run, {});
  EXPECT_EQ(
      thinned_text(report),
      "Steps 0 to 59 were thinned out while the job ran (record --keep): for them, only sums per rank and step are "
      "recorded. These sums show slow ranks; everything else in this report covers the time from step 60 on.");
  const nlohmann::ordered_json json = thinned_json(*report.thinned);
  EXPECT_EQ(json["first_full_step"], 60);
  EXPECT_EQ(json["steps"].size(), 60U);
  EXPECT_EQ(json["ranks"][1]["own_ns_per_step"].size(), 60U);
}

TEST(ThinnedSteps, IfAllWereThinnedOutSlowRanksAreStillNamed) {
  const Report report = report_of({.steps = 80, .full_from = 80});
  EXPECT_FALSE(report.steps);
  ASSERT_TRUE(report.thinned);
  ASSERT_TRUE(report.stragglers) << report.stragglers.error().why;
  ASSERT_EQ(report.stragglers->rows.size(), 1U);
  EXPECT_EQ(report.stragglers->rows.front().rank, RankId{1});
}

TEST(ThinnedSteps, OnlyStepsThatAreAskedForAreCompared) {
  const auto run = run_of(text_of({}));
  const Report late = report_of_steps(*run, {65, 79});
  EXPECT_FALSE(late.thinned);
  ASSERT_TRUE(late.stragglers) << late.stragglers.error().why;
  EXPECT_TRUE(late.stragglers->rows.empty()) << "the rank was slow before step 30";
  const Report early = report_of_steps(*run, {0, 20});
  ASSERT_TRUE(early.thinned);
  EXPECT_EQ(early.thinned->indices.size(), 21U);
  EXPECT_EQ(early.thinned->rows.front().per_step.size(), 21U);
}

TEST(ThinnedSteps, RanksAreNotComparedInStepsThatSomeHaveAsEvents) {
  std::string text = text_of({.slow_until = 0});
  const std::string sums = " step index=59 thinned=1";
  const std::size_t first = text.find(sums);
  ASSERT_NE(first, text.npos);
  text.replace(first, sums.size(), " step index=59 skipped=1");  // rank 0 has events of it
  const Report report = analyze(*run_of(text), {});
  ASSERT_TRUE(report.thinned);
  EXPECT_EQ(report.thinned->indices.size(), 59U);
  EXPECT_EQ(report.thinned->rows.front().per_step.size(), 79U);
}

TEST(ThinnedSteps, WhereRanksAreNotComparedInThemTheFullStepsAreAndItIsSaid) {
  std::string text = text_of({.slow_until = 0});
  for (std::int64_t step = 0; step < 60; ++step) {
    const std::string sums = format(" step index={} thinned=1", step);
    text.replace(text.find(sums), sums.size(), format(" step index={} skipped=1", step));  // rank 0 has events of all
  }
  const Report report = analyze(*run_of(text), {});
  EXPECT_FALSE(report.thinned);
  ASSERT_TRUE(report.stragglers) << report.stragglers.error().why;
  EXPECT_FALSE(report.stragglers->compared.empty());
  EXPECT_NE(report.stragglers->cannot_tell.find("none of them has sums on all ranks"), std::string::npos)
      << report.stragglers->cannot_tell;
}

TEST(ThinnedSteps, IfAllWereThinnedOutNoFullStepIsPromised) {
  const Report report = report_of({.steps = 80, .full_from = 80});
  EXPECT_NE(thinned_text(report).find("These sums show slow ranks; no step with events is left, so this report shows "
                                      "nothing else about steps."),
            std::string::npos)
      << thinned_text(report);
}

TEST(ThinnedSteps, SumsThatCannotBeTrueAreLimitedToTheStep) {
  constexpr std::string_view most = "9223372036854775807";
  std::string text = text_of({.slow_until = 0});
  for (const std::string_view key : {"compute_ns=", "communication_ns=", "wait_ns=", "\"bytes\"=", "operations="}) {
    for (std::size_t at = text.find(key); at != text.npos; at = text.find(key, at + key.size())) {
      const std::size_t begin = at + key.size();
      text.replace(begin, text.find_first_of(" \n", begin) - begin, most);
    }
  }
  const std::string last = " step index=79\n";
  for (std::size_t at = text.find(last); at != text.npos; at = text.find(last, at + 1))
    text.replace(at, last.size(), format(" step index={} thinned=1\n", most));
  const Report report = analyze(*run_of(text), {});
  ASSERT_TRUE(report.thinned);
  for (const ThinnedRank& rank : report.thinned->ranks) {
    EXPECT_EQ(rank.total.compute_ns + rank.total.exposed_comm_ns + rank.total.memory_ns + rank.total.idle_ns,
              rank.total.window_ns);
    EXPECT_EQ(rank.bytes, std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(rank.operations, std::numeric_limits<std::int64_t>::max());
  }
}

TEST(ThinnedSteps, ARunWithoutThemHasNoSuchSection) {
  const Report report = report_of({.full_from = 0, .slow_until = 0});
  EXPECT_FALSE(report.thinned);
  EXPECT_TRUE(thinned_text(report).empty());
}

}  // namespace
}  // namespace rankscope::analyzer
