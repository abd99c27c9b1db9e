// The same recording on clocks that are off must give the same verdict and, to within the error, the same waits.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "alignment/align.h"
#include "analyzer/synthetic_run.h"
#include "collectives/find.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "support/changed_run.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using testing::Skew;
using testing::with_skewed_clocks;

std::vector<Skew> skews(std::size_t ranks, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::uniform_int_distribution<std::int64_t> offset{-50'000'000, 50'000'000};
  std::uniform_real_distribution<double> drift{-50, 50};
  std::vector<Skew> all;
  for (std::size_t i = 0; i < ranks; ++i) all.push_back({offset(random), drift(random)});
  return all;
}

/// Fails where a wait of any rank in any operation changed by the error of the skewed run or more.
void expect_same_waits(const Run& recorded, const Run& skewed) {
  const Alignment before = align_clocks(recorded);
  const Alignment after = align_clocks(skewed);
  const Run& moved = after.moved ? *after.moved : skewed;
  const auto waits = match_collectives(recorded, {recorded, before.model}).parts;
  const auto again = match_collectives(moved, {moved, after.model}).parts;
  ASSERT_EQ(after.clock.method, "unit_ends");
  ASSERT_EQ(waits.size(), again.size());
  std::size_t compared = 0;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (!waits[i].split || !again[i].split) continue;
    ++compared;
    EXPECT_LT(std::abs(waits[i].wait_ns - again[i].wait_ns), after.clock.error.count()) << "row " << i;
  }
  EXPECT_GT(compared, 40U);
}

/// A rank that computes longer by so many ms than the others, which take 95 ms.
std::shared_ptr<const Run> slow_by(double ms) {
  return testing::make({.ranks = 4,
                        .steps = 40,
                        .noise = 0.005,
                        .fault = [ms](testing::StepPlan& plan, std::uint32_t rank, std::int64_t) {
                          if (rank == 2) plan.forward += ms;
                        }});
}

TEST(SkewedClocks, ChangeNoWaitOfAGeneratedRunByTheStatedErrorOrMore) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const auto run = slow_by(10);
    expect_same_waits(*run, *with_skewed_clocks(*run, skews(4, seed)));
  }
}

TEST(SkewedClocks, DoNotHideARankThatIsAlwaysLate) {
  const auto run = slow_by(9);  // 8 % of a step of 112 ms
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Report report = analyze(*with_skewed_clocks(*run, skews(4, seed)), {});
    ASSERT_TRUE(report.stragglers);
    ASSERT_EQ(report.stragglers->rows.size(), 1U) << seed;
    EXPECT_EQ(report.stragglers->rows[0].rank, RankId{2});
    ASSERT_TRUE(report.steps);
    EXPECT_FALSE(report.steps->clocks_refused);
    const Report plain = analyze(*run, {});
    EXPECT_NEAR(static_cast<double>(report.steps->median_ns), static_cast<double>(plain.steps->median_ns), 20'000);
    std::size_t last = 0;
    for (const Operation& operation : report.collectives->operations)
      last += operation.last_rank == RankId{2} ? 1U : 0U;
    EXPECT_GT(last, report.collectives->operations.size() / 2);
  }
}

TEST(SkewedClocks, OfAPacedRecordingLeaveItsVerdictAndItsWaits) {
  const auto run = open_run(RANKSCOPE_SAMPLES "/demo.rankscope");
  ASSERT_TRUE(run) << run.error().message;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto skewed = with_skewed_clocks(**run, skews(4, seed));
    expect_same_waits(**run, *skewed);
    const Report report = analyze(*skewed, {});
    ASSERT_TRUE(report.stragglers);
    ASSERT_EQ(report.stragglers->rows.size(), 1U);
    EXPECT_EQ(report.stragglers->rows[0].rank, RankId{2});
    EXPECT_EQ(report.stragglers->rows[0].kind, analyze(**run, {}).stragglers->rows[0].kind);
  }
}

TEST(SkewedClocks, AreToldInTextJsonAndPage) {
  const auto run = with_skewed_clocks(*slow_by(10), {{}, {3'000'000, 40}, {-7'000'000, 0}, {20'000, -30}});
  const Report report = analyze(*run, {});
  const std::string text = render_text(report, *run, {}, Colour::no);
  EXPECT_THAT(text, HasSubstr("Clocks: aligned by the ends of shared operations, ±"));
  EXPECT_THAT(text, HasSubstr("4 clocks were aligned by the ends of operations"));
  const std::string json = render_json(report, *run, {});
  EXPECT_THAT(json, HasSubstr("\"method\": \"unit_ends\""));
  EXPECT_THAT(json, HasSubstr("\"residuals\""));
  const std::string page = render_html(report, *run, {});
  EXPECT_THAT(page, HasSubstr("id=\"clock-chart\""));
  EXPECT_THAT(page, HasSubstr("How the clocks differ from each other"));
  const auto shared = slow_by(10);
  EXPECT_THAT(render_html(analyze(*shared, {}), *shared, {}), ::testing::Not(HasSubstr("clock-chart")));
}

}  // namespace
}  // namespace rankscope::analyzer
