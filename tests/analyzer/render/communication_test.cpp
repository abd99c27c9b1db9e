// Efficiency, blame and bandwidth as text, JSON and page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/sample_report.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "render/rank_matrix.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::run_of;

std::shared_ptr<const Run> slow_run(std::uint32_t ranks = 4) {
  return testing::make({.ranks = ranks, .fault = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t) {
                          if (rank == 2) plan.backward *= 1.5;
                        }});
}

TEST(RenderEfficiency, TheTreeNamesTheRanksThatDecide) {
  const auto run = slow_run();
  const std::string text = render_text(analyze(*run, {}), *run, {}, Colour::no);
  EXPECT_THAT(text, HasSubstr("EFFICIENCY  20 steps of 4 ranks"));
  EXPECT_THAT(text, HasSubstr("most compute (rank 2)"));
  EXPECT_THAT(text, HasSubstr("How the ranks spend their time: compute "));
  EXPECT_THAT(text, Not(HasSubstr("  efficiency  ")));
}

TEST(RenderEfficiency, TheFactorsMultiplyInTheJsonToo) {
  const auto run = slow_run();
  const auto json = nlohmann::json::parse(render_json(analyze(*run, {}), *run, {}));
  const auto& tree = json["efficiency"];
  const auto product = [](const nlohmann::json& factors) {
    return factors["load_balance"].get<double>() * factors["communication"].get<double>() *
           factors["orchestration"].get<double>();
  };
  EXPECT_NEAR(product(tree), tree["parallel"].get<double>(), 1e-12);
  for (const auto& step : tree["steps"]) EXPECT_NEAR(product(step), step["parallel"].get<double>(), 1e-12);
  EXPECT_NEAR(tree["serialization"].get<double>() * tree["transfer"].get<double>(), tree["communication"].get<double>(),
              1e-12);
  std::int64_t ledger = 0;
  for (const auto& part : tree["ledger"]) ledger += part.get<std::int64_t>();
  EXPECT_EQ(ledger, tree["ledger_ns"].get<std::int64_t>());
}

TEST(RenderBlame, TheJsonAddsUpToTheExposedWaits) {
  const auto run = slow_run();
  const auto json = nlohmann::json::parse(render_json(analyze(*run, {}), *run, {}));
  const auto& blame = json["blame"];
  std::int64_t costs = blame["unknown_ns"].get<std::int64_t>();
  for (const auto& row : blame["ranks"]) {
    costs += row["cost_ns"].get<std::int64_t>();
    std::int64_t parts = 0;
    for (const auto& part : row["direct_ns"]) parts += part.get<std::int64_t>();
    for (const auto& part : row["inherited_ns"]) parts += part.get<std::int64_t>();
    EXPECT_EQ(parts, row["cost_ns"].get<std::int64_t>());
  }
  EXPECT_EQ(costs, blame["total_ns"].get<std::int64_t>());
  std::int64_t pairs = blame["pairs_unknown_ns"].get<std::int64_t>();
  for (const auto& pair : blame["pairs"]) pairs += pair["ns"].get<std::int64_t>();
  EXPECT_EQ(pairs, blame["total_ns"].get<std::int64_t>());
  EXPECT_EQ(blame["ranks"][0]["rank"], 2);
}

TEST(RenderBlame, TheTextHasTheRowsAndWhoWaitedForWhom) {
  const auto run = slow_run();
  const std::string text = render_text(analyze(*run, {}), *run, {}, Colour::no);
  EXPECT_THAT(text, HasSubstr("WHO MADE OTHERS WAIT"));
  EXPECT_THAT(text, HasSubstr("waiting rank"));
}

TEST(RenderBlame, ManyRanksAreCutInTheTextAndThinnedOnThePage) {
  const auto run = slow_run(40);
  const Report report = analyze(*run, {});
  const std::string text = render_text(report, *run, {}, Colour::no);
  EXPECT_THAT(text, Not(HasSubstr("waiting rank"))) << "40 columns do not fit";
  const std::string page = render_html(report, *run, {});
  EXPECT_THAT(page, HasSubstr("waiting-map"));
  EXPECT_THAT(page, HasSubstr("Only the ranks with the most waiting are shown"));
}

TEST(RenderBlame, HardlyAnyWaitingIsOneLine) {
  const auto run = run_of(
      "@run clock=same_host\n@group dp 0,1\n"
      "0 compute 0 1000000 gemm\n0 comm 1000000 1100000 allreduce group=dp\n"
      "1 compute 0 1000000 gemm\n1 comm 1003000 1100000 allreduce group=dp\n");
  EXPECT_THAT(render_text(analyze(*run, {}), *run, {}, Colour::no), HasSubstr("The ranks hardly wait for each other"));
}

TEST(RenderBandwidth, TrafficIsAMatrixAndAMap) {
  const auto run = run_of(
      "@run clock=same_host\n@group pp 0,1\n"
      "0 comm 0 10000 send group=pp peer=1 bytes=50000\n1 comm 0 10000 recv group=pp peer=0 bytes=50000\n");
  const Report report = analyze(*run, {});
  const std::string text = render_text(report, *run, {}, Colour::no);
  EXPECT_THAT(text, HasSubstr("COMMUNICATION BANDWIDTH"));
  EXPECT_THAT(text, HasSubstr("0  50.0 kB"));
  EXPECT_THAT(render_html(report, *run, {}), HasSubstr("rank 0 sent 50.0 kB to rank 1"));
  const auto json = nlohmann::json::parse(render_json(report, *run, {}));
  EXPECT_EQ(json["bandwidth"]["traffic"][0]["bytes"], 50'000);
}

TEST(RankMatrix, KeepsTheLargestSumsAndSaysWhatIsLeftOut) {
  const std::vector<RankCell> cells{{RankId{0}, RankId{1}, 5}, {RankId{2}, RankId{1}, 7}, {RankId{0}, RankId{3}, 1}};
  const RankMatrix all = rank_matrix(cells, 4);
  EXPECT_EQ(all.rows.size(), 2U);
  EXPECT_EQ(all.columns.size(), 2U);
  EXPECT_EQ(all.largest, 7);
  EXPECT_EQ(all.left_out, 0);
  const RankMatrix one = rank_matrix(cells, 1);
  EXPECT_EQ(one.rows, std::vector{RankId{2}});
  EXPECT_EQ(one.left_out, 6);
}

}  // namespace
}  // namespace rankscope::analyzer
