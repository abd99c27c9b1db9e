// What a comparison says, as text, as JSON and as a page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/compare/render_comparison.h"
#include "support/markup.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::StepPlan;

Comparison slower_backward() {
  const auto a = testing::make({.steps = 20});
  const auto b = testing::make(
      {.steps = 20, .seed = 2, .fault = [](StepPlan& plan, std::uint32_t, std::int64_t) { plan.backward *= 1.2; }});
  return compare(digest(*a, {}, {"A", "old.rankscope"}), digest(*b, {}, {"B", "new.rankscope"}));
}

TEST(ComparisonText, SaysHowMuchHowSureAndWhere) {
  const std::string text = render_text(ComparisonView{slower_backward(), std::nullopt}, Colour::no);
  EXPECT_THAT(text, HasSubstr("B is 11."));
  EXPECT_THAT(text, HasSubstr("% slower than A."));
  EXPECT_THAT(text, HasSubstr("the 95 % interval of the change is +"));
  EXPECT_THAT(text, HasSubstr("Most of the change is compute: 11."));
  EXPECT_THAT(text, HasSubstr("old.rankscope"));
  EXPECT_THAT(text, HasSubstr("backward_block"));
  EXPECT_THAT(text, HasSubstr("Only two runs are compared, so a change cannot be told apart"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Comparison, DoubtsBeginWithWhatMakesItAnotherJob) {
  const auto a = testing::make({.steps = 20});
  const auto b = testing::make({.ranks = 2, .steps = 20});
  const auto doubts = doubts_about(compare(digest(*a, {}, {"A", "old"}), digest(*b, {}, {"B", "new"})));
  ASSERT_FALSE(doubts.empty());
  EXPECT_THAT(doubts.front(), HasSubstr("These are not runs of the same job: "));
  EXPECT_THAT(doubts.back(), HasSubstr("Only two runs are compared"));
  EXPECT_THAT(doubts_about(slower_backward()), Not(::testing::Contains(HasSubstr("not runs of the same job"))));
}

TEST(Comparison, OfDifferentRanksSaysWhetherTheyDoEqualWork) {
  const auto a = testing::make({.steps = 20});
  const auto b = testing::make({.ranks = 2, .steps = 20});
  RunDigest first = digest(*a, {}, {"A", "old"});
  const RunDigest second = digest(*b, {}, {"B", "new"});
  ASSERT_EQ(first.peers.size(), 1U);
  EXPECT_EQ(compare(first, second).split->pairing,
            "The runs have different ranks: ranks that do equal work are compared with each other.");
  first.peers.front().caveat = "it is not known which ranks do equal work";
  EXPECT_EQ(compare(first, second).split->pairing,
            "The runs have different ranks: all ranks of one run are compared with all ranks of the other, "
            "because it is not known which ranks do equal work.");
}

TEST(ComparisonText, NoLineIsWiderThanThePage) {
  const std::string text = render_text(ComparisonView{slower_backward(), std::nullopt}, Colour::no);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    const auto columns =
        std::ranges::count_if(line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
    EXPECT_LE(columns, 100) << line;
    begin = end + 1;
  }
}

TEST(ComparisonJson, PartsAddUpAndTheMethodIsNamed) {
  const auto json = nlohmann::json::parse(render_json({slower_backward(), std::nullopt}));
  EXPECT_EQ(json.at("schema"), "rankscope.compare/1");
  EXPECT_EQ(json.at("step_time").at("verdict"), "slower");
  EXPECT_EQ(json.at("step_time").at("method").at("seed"), 17);
  const auto& all = json.at("parts").at("all");
  std::int64_t change = 0;
  for (const auto& part : all.at("parts")) change += part.at("change_ns").get<std::int64_t>();
  EXPECT_EQ(change, all.at("window").at("change_ns"));
  EXPECT_EQ(json.at("parts").at("ranks").size(), 4U);
  EXPECT_LE(json.at("keys").at("changed").at(0).at("q"), 0.05);
}

TEST(ComparisonJson, TheGateIsInItWithItsLimit) {
  const Comparison comparison = slower_backward();
  const Gate gate = judge(comparison, 0.03, Likes::must_agree);
  const auto json = nlohmann::json::parse(render_json({comparison, gate}));
  EXPECT_EQ(json.at("gate").at("verdict"), "fail");
  EXPECT_EQ(json.at("gate").at("max_regression"), 0.03);
  EXPECT_THAT(json.at("summary").get<std::string>(), HasSubstr("FAIL: "));
}

TEST(ComparisonJson, WithoutStepsNoMeanIsCalledMeasured) {
  const auto digest_of = [](int ns) {
    const auto run = testing::run_of("@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 " + std::to_string(ns) +
                                     " gemm lane=s7\n");
    return digest(*run, {}, {"A", "a"});
  };
  const auto json = nlohmann::json::parse(render_json({compare(digest_of(100), digest_of(150)), std::nullopt}));
  const auto& key = json.at("keys").at("medians").at(0);
  EXPECT_TRUE(key.at("a_ns").is_null());
  EXPECT_TRUE(key.at("b_ns").is_null());
  EXPECT_TRUE(key.at("change_ns").is_null());
  EXPECT_EQ(key.at("why").at("a_ns"), "no step marks were recorded");
  EXPECT_EQ(key.at("median_b_ns"), 150);
}

TEST(Comparison, WhatIsNotListedIsSaidInTextAndPage) {
  Comparison comparison = slower_backward();
  comparison.keys.maybe_chance = 3;
  comparison.keys.small_appeared = 4;
  comparison.findings.why_unknown = "A: it is not known how the ranks spend their time";
  comparison.asked_for.steps = {5, to_the_end};
  const ComparisonView view{comparison, std::nullopt};
  for (const std::string& shown : {render_text(view, Colour::no), render_html(view)}) {
    EXPECT_THAT(shown,
                HasSubstr("Not listed: 3 entries that changed by at least 1 % of a step, but perhaps by chance."));
    EXPECT_THAT(shown, HasSubstr("Not listed: entries below 1 % of a step (4 new, 0 gone)."));
    EXPECT_THAT(shown, HasSubstr("Findings were not compared: A: it is not known how the ranks spend their time."));
    EXPECT_THAT(shown, HasSubstr("only steps 5 and later"));
  }
}

TEST(Comparison, OnlyMoreThanHalfIsMost) {
  Comparison comparison = slower_backward();
  SplitMean& mean = comparison.split->all.b;
  const SplitMean& before = comparison.split->all.a;
  mean = before;
  const auto add = [&mean](SplitPart part, std::int64_t ns) {
    mean.parts_ns[static_cast<std::size_t>(part)] += ns;
    mean.window_ns += ns;
  };
  add(SplitPart::compute, 4'000'000);
  add(SplitPart::memory, 3'000'000);
  add(SplitPart::idle_host, 3'000'000);
  EXPECT_THAT(render_text({comparison, std::nullopt}, Colour::no),
              HasSubstr("The largest part of the change is compute: 4.00 ms more"));
}

TEST(ComparisonPage, IsWellFormedAndEscapesNames) {
  Comparison comparison = slower_backward();
  comparison.a.name.path = "<script>alert(1)</script>";
  comparison.keys.changed.front().key.name = "\"><img src=x>";
  const std::string page = render_html({comparison, judge(comparison, 0.03, Likes::must_agree)});
  EXPECT_EQ(testing::badly_nested(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("<h1>rankscope gate</h1>"));
  EXPECT_THAT(page, HasSubstr("id=\"parts-chart\""));
}

TEST(ComparisonPage, WithoutStepsSaysWhy) {
  const auto run = testing::run_of("@lane 0 s7 kind=stream number=7 device=0\n0 compute 0 100 gemm lane=s7\n");
  const RunDigest whole = digest(*run, {}, {"A", "a"});
  const std::string page = render_html({compare(whole, whole), std::nullopt});
  EXPECT_EQ(testing::badly_nested(page), "");
  EXPECT_THAT(page, HasSubstr("no step marks were recorded"));
}

}  // namespace
}  // namespace rankscope::analyzer
