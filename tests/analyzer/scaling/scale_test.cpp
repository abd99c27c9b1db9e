// How steps grow with the number of ranks.
#include "rankscope/analyzer/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/analyses/synthetic_run.h"
#include "scaling/transfer_fit.h"

namespace rankscope::analyzer {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Run> run_of(std::uint32_t ranks, double noise = 0.01, double forward = 30,
                                  std::int64_t batch = 0) {
  std::string head = "@run clock=same_host clock_error=1000";
  if (batch > 0) head += " meta.global_batch=" + std::to_string(batch);
  return testing::make(
      {.ranks = ranks,
       .steps = 30,
       .noise = noise,
       .seed = ranks,
       .head = head + "\n",
       .fault = [forward](testing::StepPlan& plan, std::uint32_t, std::int64_t) { plan.forward = forward; }});
}

ScaleAnswer answer_of(const std::vector<std::shared_ptr<const Run>>& runs, const ScaleOptions& options) {
  const auto answer = scale(runs, options);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? *answer : ScaleAnswer{};
}

TEST(Rings, KnowTheirRoundsAndVolume) {
  EXPECT_EQ(scaling::ring_of("allreduce", 4)->rounds, 6);
  EXPECT_DOUBLE_EQ(scaling::ring_of("all_reduce", 4)->share, 1.5);
  EXPECT_DOUBLE_EQ(scaling::ring_of("reduce_scatter", 4)->share, 0.75);
  EXPECT_FALSE(scaling::ring_of("allreduce", 1));
  EXPECT_FALSE(scaling::ring_of("something", 4));
}

TEST(Rings, AreFittedByLatencyAndBandwidth) {
  const auto ring = *scaling::ring_of("allreduce", 4);
  std::vector<scaling::Transfer> transfers;
  for (const std::int64_t bytes : {1'000, 100'000, 1'000'000, 10'000'000})
    for (int i = 0; i < 5; ++i)
      transfers.push_back({bytes, 6 * 2'000.0 + 1.5 * static_cast<double>(bytes) * 0.1 * (i == 4 ? 3 : 1)});
  const scaling::LinkModel link = fit_link(transfers, ring);
  EXPECT_TRUE(link.latency_known);
  EXPECT_NEAR(link.alpha_ns, 2'000, 20);
  EXPECT_NEAR(link.ns_per_byte, 0.1, 0.001);
  const scaling::LinkModel one_size = fit_link(std::span(transfers).first(5), ring);
  EXPECT_FALSE(one_size.latency_known);
  EXPECT_EQ(one_size.alpha_ns, 0);
}

TEST(Scale, PredictsWhatMoreRanksReallyTake) {
  const auto predicted = answer_of({run_of(4)}, {.to = {8, 16}, .ranks_per_host = 16}).predicted;
  ASSERT_EQ(predicted.size(), 2U);
  for (const ScaledStep& step : predicted) {
    // The generator's transfers do not grow; those of the prediction do, by at most 2 (N-1)/N of 16 ms in each step.
    const auto truth = answer_of({run_of(static_cast<std::uint32_t>(step.ranks))}, {}).measured.front().step_ns;
    EXPECT_GE(step.step_ns, truth * 99 / 100) << step.ranks;
    EXPECT_LE(step.low_ns, step.step_ns);
    EXPECT_GE(step.high_ns, step.step_ns);
    EXPECT_LE(step.high_ns - step.step_ns, step.step_ns / 4);
    EXPECT_FALSE(step.low_confidence);
  }
  EXPECT_GT(predicted[1].step_ns, predicted[0].step_ns);
}

TEST(Scale, IsTheSameForTheSameSeed) {
  const ScaleOptions options{.to = {64}, .ranks_per_host = 64, .seed = 7};
  const auto first = answer_of({run_of(4)}, options).predicted.front();
  const auto second = answer_of({run_of(4)}, options).predicted.front();
  EXPECT_EQ(first.step_ns, second.step_ns);
  EXPECT_EQ(first.high_ns, second.high_ns);
  EXPECT_TRUE(first.low_confidence) << "64 ranks from 4";
}

TEST(Scale, ChargesNoiseAndCommunicationApart) {
  const auto quiet = answer_of({run_of(4, 0)}, {.to = {16}, .ranks_per_host = 16}).predicted.front();
  const auto noisy = answer_of({run_of(4, 0.05)}, {.to = {16}, .ranks_per_host = 16}).predicted.front();
  EXPECT_NEAR(quiet.lost_to_noise, 0, 0.001);
  EXPECT_GT(noisy.lost_to_noise, 0.02);
  EXPECT_GT(quiet.lost_to_comm, 0);
}

TEST(Scale, DoesNotGuessANetworkThatItNeverSaw) {
  const ScaleAnswer refused = answer_of({run_of(4)}, {.to = {8}});
  EXPECT_TRUE(refused.predicted.empty());
  EXPECT_THAT(refused.why_not_predicted, HasSubstr("all ranks were on one host"));
  const ScaleAnswer told = answer_of({run_of(4)}, {.to = {8}, .latency_us = 5, .bandwidth_gbps = 25});
  EXPECT_EQ(told.predicted.size(), 1U);
  EXPECT_FALSE(scale(std::vector{run_of(4)}, {.to = {8}, .latency_us = 5}));
  EXPECT_FALSE(scale(std::vector{run_of(4)}, {.to = {1}}));
}

TEST(Scale, OfFewStepsIsRefused) {
  const auto few = testing::make({.ranks = 4, .steps = 6});
  EXPECT_THAT(answer_of({few}, {.to = {8}, .ranks_per_host = 8}).why_not_predicted, HasSubstr("it needs 10 steps"));
}

TEST(Scale, OfSeveralRunsTellsWeakFromStrongByTheirBatches) {
  const ScaleAnswer weak = answer_of({run_of(8, 0.001, 30, 64), run_of(4, 0.001, 30, 32)}, {});
  EXPECT_EQ(weak.scaling, Scaling::weak);
  EXPECT_EQ(weak.measured.front().ranks, 4);
  EXPECT_NEAR(weak.measured.back().efficiency, 1, 0.02);
  const ScaleAnswer strong = answer_of({run_of(2, 0.001, 60, 32), run_of(4, 0.001, 30, 32)}, {});
  EXPECT_EQ(strong.scaling, Scaling::strong);
  ASSERT_TRUE(strong.fit);
  EXPECT_GT(strong.fit->fixed_share, 0.3);
  EXPECT_LT(strong.measured.back().efficiency, 0.8);
}

TEST(Scale, IsShownAsTextJsonAndPage) {
  const ScaleAnswer answer = answer_of({run_of(4)}, {.to = {8}, .ranks_per_host = 8});
  EXPECT_THAT(render_scale_text(answer, Colour::no), HasSubstr("8 ranks would take"));
  const auto json = nlohmann::json::parse(render_scale_json(answer));
  EXPECT_EQ(json["schema"], "rankscope.scale/1");
  EXPECT_EQ(json["predicted"][0]["ranks"], 8);
  EXPECT_THAT(render_scale_html(answer), HasSubstr("scale-chart"));
}

}  // namespace
}  // namespace rankscope::analyzer
