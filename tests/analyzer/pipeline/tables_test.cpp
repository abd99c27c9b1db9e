// A pipeline as people and programs read it, from a synthetic recording.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "rankscope/analyzer/render.h"
#include "support/synthetic_recording.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct Rendered {
  std::string text, page;
  nlohmann::json json;
};

Rendered rendered(const synthetic::Plan& plan) {
  const auto run = rankscope::testing::recorded(plan);
  const Report report = analyze(*run, {});
  return {render_text(report, *run, {}, Colour::no), render_html(report, *run, {}),
          nlohmann::json::parse(render_json(report, *run, {}))};
}

synthetic::Plan pipeline(double send_ms) {
  synthetic::Plan plan;
  plan.ranks = plan.pp = 4;
  plan.micro_batches = 8;
  plan.noise = 0;
  plan.send_ms = send_ms;
  return plan;
}

TEST(RenderPipeline, APerfectOneIsToldInFewLinesAndIsNoFinding) {
  const Rendered out = rendered(pipeline(0));
  EXPECT_THAT(out.text, HasSubstr("Schedule 1f1b: 8 micro-batches on 4 ranks; 20 steps."));
  EXPECT_THAT(out.text, HasSubstr("Bubble: 27 % of the time; the schedule requires 27 % (excess: +0.0 points)."));
  EXPECT_THAT(out.text, HasSubstr("330 ms per step = 240 ms work + 90.0 ms bubble of the schedule"));
  EXPECT_EQ(out.json["pipeline"]["schedule"], "1f1b");
  EXPECT_NEAR(out.json["pipeline"]["bubble_measured"].get<double>(), 9.0 / 33, 1e-5);
  EXPECT_NEAR(out.json["pipeline"]["bubble_theory"].get<double>(), 9.0 / 33, 1e-5);
  EXPECT_EQ(out.json["pipeline"]["drawn"]["actions"].size(), 64U);
  EXPECT_THAT(out.text, Not(HasSubstr("larger than its schedule requires")));
}

TEST(RenderPipeline, IsDrawnWithItsMicroBatches) {
  const Rendered out = rendered(pipeline(0));
  EXPECT_THAT(out.page, HasSubstr("id=\"pipeline-step\""));
  EXPECT_THAT(out.page, HasSubstr("position 3, micro-batch 7: backward"));
  EXPECT_THAT(out.page, HasSubstr("class=\"pipeline-idle\""));
  EXPECT_THAT(out.page, HasSubstr("ms after the first forward"));
}

TEST(RenderPipeline, SideBySideShowsTheWorkOfEachRank) {
  synthetic::Plan plan = pipeline(0);
  plan.ranks = 8;  // two pipelines of four places
  plan.faults = {synthetic::fault_from("slow:rank=6,factor=1.5")};
  const Rendered out = rendered(plan);
  EXPECT_THAT(out.text, HasSubstr("Work of each rank in ms per step; one row for each pipeline, one column"));
  EXPECT_THAT(out.page, HasSubstr("id=\"worker-map\""));
  EXPECT_THAT(out.page, HasSubstr("rank 6, position 3: works 360 ms per step, +120.00 ms relative to the median rank"));
  EXPECT_THAT(out.page, HasSubstr("heat-6"));
  EXPECT_THAT(rendered(pipeline(0)).page, Not(HasSubstr("worker-map")));
}

TEST(RenderPipeline, SlowTransfersAreAFindingWithAdvice) {
  const Rendered out = rendered(pipeline(6));
  EXPECT_THAT(out.text, HasSubstr("points larger than its schedule"));
  EXPECT_THAT(out.text, HasSubstr("Post the receives earlier, so that"));
  const auto& parts = out.json["pipeline"]["parts"];
  EXPECT_EQ(parts["length_ns"].get<std::int64_t>(),
            parts["work_ns"].get<std::int64_t>() + parts["bubble_ns"].get<std::int64_t>() +
                parts["imbalance_ns"].get<std::int64_t>() + parts["excess_ns"].get<std::int64_t>());
}

TEST(RenderPipeline, TheAdviceNamesTheStageAndTheRank) {
  synthetic::Plan plan = pipeline(0);
  plan.faults = {synthetic::fault_from("slow:rank=2,factor=1.5")};
  const Rendered out = rendered(plan);
  std::string advice;
  for (const auto& finding : out.json["findings"])
    if (finding["id"] == "pipeline.bubble") advice = finding["advice"].get<std::string>();
  EXPECT_THAT(advice, HasSubstr("(rank 2) fewer layers, or find out why rank 2 is slow"));
}

TEST(RenderPipeline, TheFindingStatesUnevenStagesOnlyWhereTheyAreKnownApart) {
  const auto evidence = [](const synthetic::Plan& plan) {
    const Rendered out = rendered(plan);
    for (const auto& finding : out.json["findings"])
      if (finding["id"] == "pipeline.bubble") return finding["evidence"].get<std::string>();
    return std::string{};
  };
  EXPECT_THAT(evidence(pipeline(6)), HasSubstr(" uneven stages + "));
  synthetic::Plan plan = pipeline(6);
  plan.schedule = PipelineSchedule::zb_h1;
  EXPECT_THAT(evidence(plan), HasSubstr(" excess (transfers, slow ranks, hosts)"));
  EXPECT_THAT(evidence(plan), Not(HasSubstr("uneven stages")));
}

TEST(RenderPipeline, ADataParallelRunSaysThatThereIsNone) {
  synthetic::Plan plan;
  const Rendered out = rendered(plan);
  EXPECT_THAT(out.json["pipeline"]["unavailable"].get<std::string>(), HasSubstr("no pipeline"));
  EXPECT_THAT(out.text, Not(HasSubstr("PIPELINE")));
}

}  // namespace
}  // namespace rankscope::analyzer
