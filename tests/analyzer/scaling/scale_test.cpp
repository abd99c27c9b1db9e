// How steps grow with the number of ranks.
#include "rankscope/analyzer/scaling/scale.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/synthetic_run.h"
#include "scaling/transfer_fit.h"

namespace rankscope::analyzer {
namespace {

using ::testing::Contains;
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

/// Steps of 1 ms: half of each is forward, the other half one operation on the communication thread.
struct PlainRun {
  std::uint32_t ranks = 2;
  int steps = 12;
  std::string op = "allreduce group=dp bytes=50000000 dtype=f32";
};

std::shared_ptr<const Run> plain(const PlainRun& plan) {
  std::string text = "@run clock=same_host clock_error=1000\n@group dp 0";
  for (std::uint32_t rank = 1; rank < plan.ranks; ++rank) text += "," + std::to_string(rank);
  text += '\n';
  for (int step = 0; step < plan.steps; ++step)
    for (std::uint32_t rank = 0; rank < plan.ranks; ++rank) {
      const auto at = [&](int us) { return std::to_string((step * 1000 + us) * 1000LL); };
      const std::string own = std::to_string(rank) + " ";
      text += own + "step " + at(0) + " " + at(1000) + " step index=" + std::to_string(step) + "\n";
      text += own + "forward " + at(0) + " " + at(500) + " forward\n";
      text += own + "wait " + at(500) + " " + at(1000) + " wait\n";
      text += own + "comm " + at(500) + " " + at(1000) + " " + plan.op;
      if (plan.op.find("group=") != std::string::npos) text += " seq=" + std::to_string(step);
      text += " enqueued=" + at(500) + " on=main\n";
    }
  return testing::run_of(text);
}

std::string why_refused(const PlainRun& plan) {
  const auto answer = scale(std::vector{plain(plan)}, {.to = {4}, .ranks_per_host = 8});
  return !answer ? answer.error().message : answer->predicted.empty() ? answer->why_not_predicted : "";
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

/// Of 4 ranks each bucket takes 8 ms for 1.5 x 1 MB: 5.33 ns for each byte.
constexpr double measured_gbps = 1.5 / 8;

TEST(Scale, TakesTheTimeOfTheNetworkThatItIsTold) {
  const ScaleOptions slow{.to = {8}, .latency_us = 0, .bandwidth_gbps = measured_gbps / 100};
  const auto step = answer_of({run_of(4, 0.001)}, slow).predicted.front();
  // Two buckets, one after the other: 100 times 8 ms x (7/8) / (3/4) each, after 60 to 70 ms of other work.
  EXPECT_NEAR(static_cast<double>(step.step_ns), 2 * 100 * 8e6 * 7 / 6 + 70e6, 20e6);
  EXPECT_GT(step.lost_to_comm, 0.9) << "the network is a part of what communication costs";
}

TEST(Scale, UsesTheNetworkBetweenHostsOnly) {
  const ScaleOptions slow{
      .to = {4, 8, 16}, .latency_us = 0, .bandwidth_gbps = measured_gbps / 100, .ranks_per_host = 8};
  const auto run = run_of(4, 0.001);
  const ScaleAnswer answer = answer_of({run}, slow);
  const auto inside = answer_of({run}, {.to = {4, 8}, .ranks_per_host = 8}).predicted;
  ASSERT_EQ(answer.predicted.size(), 3U);
  EXPECT_NEAR(static_cast<double>(answer.predicted[0].step_ns), static_cast<double>(answer.measured.front().step_ns),
              1e6);
  EXPECT_EQ(answer.predicted[0].step_ns, inside[0].step_ns);
  EXPECT_EQ(answer.predicted[1].step_ns, inside[1].step_ns);
  EXPECT_GT(answer.predicted[2].step_ns, 10 * answer.predicted[1].step_ns);
}

TEST(Scale, CountsTheLatencyOfTheHopsBetweenHosts) {
  const auto run = run_of(4, 0);
  const auto at = [&](double latency_us) {
    const ScaleOptions options{.to = {16}, .latency_us = latency_us, .bandwidth_gbps = 1000, .ranks_per_host = 4};
    return answer_of({run}, options).predicted.front().step_ns;
  };
  // 2 x 15 rounds of the last bucket (backward hides the other one); 4 of 16 hops leave a host.
  EXPECT_NEAR(static_cast<double>(at(1000) - at(0)), 30 * 1e6 / 4, 0.5e6);
}

TEST(Scale, SaysWhenOnlyOneOfTheRunsWasPaced) {
  const auto of = [](std::uint32_t ranks, const std::string& facts) {
    return testing::make({.ranks = ranks, .steps = 30, .head = "@run clock=same_host clock_error=1000" + facts + "\n"});
  };
  const auto answer = scale(std::vector{of(2, " meta.pace_ms=100"), of(4, "")}, {.to = {8}});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->differing_work, HasSubstr("pace_ms (100 on 2 ranks, none on 4 ranks)"));
  EXPECT_THAT(render_scale_text(*answer, Colour::no), HasSubstr("do not do the same work"));
  EXPECT_THAT(render_scale_json(*answer), HasSubstr("differing_work"));
  EXPECT_EQ(scale(std::vector{of(2, ""), of(4, "")}, {.to = {8}})->differing_work, "");
}

TEST(Scale, OfFewStepsIsRefused) {
  const auto few = testing::make({.ranks = 4, .steps = 6});
  EXPECT_THAT(answer_of({few}, {.to = {8}, .ranks_per_host = 8}).why_not_predicted,
              HasSubstr("a prediction needs 10 steps"));
}

TEST(Scale, IsRefusedWhereSingleRanksDoNotMakeTheMeasuredSteps) {
  // One step in three is twice as long on all ranks together: drawn for each rank, nearly every step would be.
  const auto together = testing::make({.ranks = 4,
                                       .steps = 30,
                                       .head = "@run clock=same_host clock_error=1000\n",
                                       .fault = [](testing::StepPlan& plan, std::uint32_t, std::int64_t step) {
                                         plan.forward = step % 3 == 0 ? 130 : 30;
                                       }});
  const ScaleAnswer refused = answer_of({together}, {.to = {8}, .ranks_per_host = 8});
  EXPECT_THAT(refused.why_not_predicted, HasSubstr("longer than measured"));
  EXPECT_GT(refused.model_error, 0.5);
}

TEST(Scale, SaysByHowMuchItMissesWhatWasMeasured) {
  const ScaleAnswer answer = answer_of({run_of(4)}, {.to = {8}, .ranks_per_host = 8});
  EXPECT_LT(std::abs(answer.model_error), 0.05);
  EXPECT_LT(answer.replay_error, 0.01);
  EXPECT_THAT(render_scale_text(answer, Colour::no),
              HasSubstr("Replaying the measured steps reproduces their length to within"));
  EXPECT_TRUE(nlohmann::json::parse(render_scale_json(answer)).contains("model_error"));
}

TEST(Scale, RefusesWhatIsNotACollectiveOfAllRanks) {
  EXPECT_EQ(why_refused({}), "");
  EXPECT_THAT(why_refused({.op = "send group=dp bytes=1000 peer=1"}), HasSubstr("send connects only two ranks"));
  EXPECT_THAT(why_refused({.op = "allreduce bytes=1000 dtype=f32"}), HasSubstr("was not matched"));
  EXPECT_THAT(why_refused({.op = "gather group=dp bytes=1000 dtype=f32 peer=0"}), HasSubstr("how long gather takes"));
  EXPECT_THAT(why_refused({.op = "swizzle group=dp bytes=1000 dtype=f32"}), HasSubstr("how long swizzle takes"));
  EXPECT_THAT(why_refused({.op = "broadcast group=dp bytes=1000 dtype=f32"}), HasSubstr("were not matched"))
      << "nobody knows its root";
}

/// Two operations of each step start on two threads at nearly the same time; which is first changes.
std::shared_ptr<const Run> run_of_two_threads(int different_steps) {
  std::string text = "@run clock=same_host clock_error=1000\n@group a 0,1\n@group b 0,1\n";
  for (const char* rank : {"0", "1"})
    for (const char* thread : {"a", "b"})
      text += std::string("@lane ") + rank + " " + thread + " kind=comm number=" + (*thread == 'a' ? "2" : "3") + "\n";
  for (int step = 0; step < 24; ++step)
    for (const int rank : {0, 1}) {
      const auto at = [&](int us) { return std::to_string((step * 1000 + us) * 1000LL); };
      const std::string own = std::to_string(rank) + " ";
      const std::string seq = " seq=" + std::to_string(step) + " enqueued=" + at(500) + " on=main\n";
      text += own + "step " + at(0) + " " + at(1000) + " step index=" + std::to_string(step) + "\n";
      text += own + "forward " + at(0) + " " + at(500) + " forward\n";
      text += own + "wait " + at(500) + " " + at(1000) + " wait\n";
      text += own + "comm " + at(step % 2 == rank ? 500 : 510) + " " + at(900) +
              " allreduce group=a bytes=1000 dtype=f32 lane=a" + seq;
      if (step >= different_steps)
        text += own + "comm " + at(505) + " " + at(1000) +
                " allgather group=b bytes=" + std::to_string(step * 100 + 8) + " dtype=f32 lane=b" + seq;
    }
  return testing::run_of(text);
}

TEST(Scale, DrawsFromAllRanksWhateverTheOrderAndTheSizesOfTheirCollectives) {
  const ScaleAnswer answer = answer_of({run_of_two_threads(0)}, {.to = {4}, .ranks_per_host = 4});
  EXPECT_EQ(answer.why_not_predicted, "");
  EXPECT_THAT(answer.notes, Contains(HasSubstr("based on 48 steps, summed over 2 ranks")));
}

TEST(Scale, CountsTheStepsThatItLeavesOut) {
  const ScaleAnswer answer = answer_of({run_of_two_threads(5)}, {.to = {4}, .ranks_per_host = 4});
  EXPECT_THAT(answer.notes, Contains(HasSubstr("Left out: 5 steps whose collectives differ")));
  const ScaleAnswer few = answer_of({run_of_two_threads(12)}, {.to = {4}, .ranks_per_host = 4});
  EXPECT_EQ(few.why_not_predicted, "");
}

/// From 2 to 16 ranks, of a step of which half is one transfer.
std::int64_t on_16_ranks(const std::string& op) {
  const ScaleAnswer answer = answer_of({plain({.op = op})}, {.to = {16}, .ranks_per_host = 16});
  EXPECT_EQ(answer.why_not_predicted, "");
  return answer.predicted.empty() ? 0 : answer.predicted.front().step_ns;
}

TEST(Scale, LetsTransfersGrowByTheirOperation) {
  EXPECT_NEAR(static_cast<double>(on_16_ranks("allreduce group=dp bytes=50000000 dtype=f32")), 500e3 + 937.5e3, 5e3);
  EXPECT_NEAR(static_cast<double>(on_16_ranks("allgather group=dp bytes=50000000 dtype=f32")), 500e3 + 937.5e3, 5e3);
  EXPECT_NEAR(static_cast<double>(on_16_ranks("broadcast group=dp bytes=50000000 dtype=f32 peer=0")), 1000e3, 5e3);
  EXPECT_NEAR(static_cast<double>(on_16_ranks("reduce group=dp bytes=50000000 dtype=f32 peer=0")), 1000e3, 5e3);
  EXPECT_NEAR(static_cast<double>(on_16_ranks("barrier group=dp")), 500e3 + 15 * 500e3, 5e3);
}

TEST(Scale, KnowsAWaitThatEndsWithItsStep) {
  const ScaleAnswer answer = answer_of({plain({})}, {.to = {4}, .ranks_per_host = 4});
  ASSERT_FALSE(answer.predicted.empty()) << answer.why_not_predicted;
  EXPECT_NEAR(static_cast<double>(answer.predicted.front().step_ns), 500e3 + 750e3, 5e3);
  EXPECT_THAT(answer.notes, Contains(HasSubstr("by 0.0 % from step to step")));
}

TEST(Scale, TakesTheWholePayloadOverTheNetwork) {
  // 2 ranks of 50 MB each gather 100 MB; each of 4 ranks receives 3/4 of that: 75 ms at 1 GB/s.
  const auto answer = answer_of({plain({.op = "allgather group=dp bytes=50000000 dtype=f32"})},
                                {.to = {4}, .latency_us = 0, .bandwidth_gbps = 1});
  ASSERT_FALSE(answer.predicted.empty());
  EXPECT_NEAR(static_cast<double>(answer.predicted.front().step_ns), 75.5e6, 0.5e6);
}

TEST(Scale, NeedsTheSizesOfWhatItScales) {
  EXPECT_THAT(why_refused({.op = "allreduce group=dp"}),
              HasSubstr("the sizes of some calls of allreduce were not recorded"));
}

TEST(Scale, ExpectsASpikeInNearlyEveryStepOfManyRanks) {
  const auto run = testing::make({.ranks = 4,
                                  .steps = 30,
                                  .head = "@run clock=same_host clock_error=1000\n",
                                  .fault = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t step) {
                                    plan.forward = rank == 1 && step == 13 ? 130 : 30;
                                  }});
  const ScaleAnswer answer = answer_of({run}, {.to = {1000}, .ranks_per_host = 1000});
  ASSERT_FALSE(answer.predicted.empty()) << answer.why_not_predicted;
  // 1 step of 120 is 100 ms longer: of 1000 ranks all but one step in 5,000 have one.
  EXPECT_GT(answer.predicted.front().step_ns, 205'000'000);
  EXPECT_LT(answer.predicted.front().step_ns, 240'000'000);
  EXPECT_THAT(answer.notes, Contains(HasSubstr("spikes")));
}

TEST(Scale, HasNoJumpWhereSamplesEnd) {
  // One of 2 ranks is 4 % slower: 60 steps of ranks were measured, and what 61 ranks take is drawn otherwise.
  const auto run = testing::make(
      {.ranks = 2,
       .steps = 30,
       .head = "@run clock=same_host clock_error=1000\n",
       .fault = [](testing::StepPlan& plan, std::uint32_t rank, std::int64_t) { plan.forward = rank == 1 ? 34 : 30; }});
  const auto predicted = answer_of({run}, {.to = {50, 70}, .ranks_per_host = 128}).predicted;
  ASSERT_EQ(predicted.size(), 2U);
  const auto before = static_cast<double>(predicted[0].step_ns);
  EXPECT_NEAR(static_cast<double>(predicted[1].step_ns), before, before / 100);
}

TEST(Scale, ExpectsTheSlowestOfManyRanks) {
  const ScaleAnswer answer = answer_of({run_of(4)}, {.to = {131072}, .ranks_per_host = 131072});
  ASSERT_FALSE(answer.predicted.empty()) << answer.why_not_predicted;
  // Own time of 100 ms, of which four parts vary by 1 % each (0.68 % together): the slowest of 131,072 is 4.3 sigma
  // off.
  EXPECT_NEAR(answer.predicted.front().lost_to_noise, 4.3 * 0.0068 * 100 / 116, 0.01);
}

std::string many_collectives(int ranks, int steps, int operations) {
  std::string text = "@run clock=same_host clock_error=1000\n@group dp 0";
  for (int rank = 1; rank < ranks; ++rank) text += "," + std::to_string(rank);
  text += '\n';
  for (int step = 0; step < steps; ++step)
    for (int rank = 0; rank < ranks; ++rank) {
      const auto at = [&](int us) { return std::to_string((step * 10 * (operations + 10) + us) * 1000LL); };
      const std::string own = std::to_string(rank) + " ";
      text += own + "step " + at(0) + " " + at(10 * (operations + 10)) + " step index=" + std::to_string(step) + "\n";
      for (int operation = 0; operation < operations; ++operation)
        text += own + "comm " + at(10 * operation) + " " + at(10 * operation + 8) +
                " allreduce group=dp bytes=1000 dtype=f32 seq=" + std::to_string(step * operations + operation) +
                " enqueued=" + at(10 * operation) + " on=main\n";
    }
  return text;
}

TEST(Scale, KeepsABoundedPartOfManyCollectives) {
  const ScaleOptions options{.to = {8}, .ranks_per_host = 8};
  const ScaleAnswer some = answer_of({testing::run_of(many_collectives(4, 30, 200))}, options);
  EXPECT_EQ(some.why_not_predicted, "");
  EXPECT_THAT(some.notes, Contains(HasSubstr("Kept as samples: ")));
  const ScaleAnswer many = answer_of({testing::run_of(many_collectives(2, 12, 1100))}, options);
  EXPECT_THAT(many.why_not_predicted, HasSubstr("a step has about 1100 collectives"));
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

TEST(Scale, DividesOwnTimeAsItsFitSays) {
  const ScaleOptions options{.to = {64}, .scaling = Scaling::strong, .ranks_per_host = 64};
  const ScaleAnswer fitted = answer_of({run_of(2, 0.001, 60, 32), run_of(4, 0.001, 30, 32)}, options);
  ASSERT_TRUE(fitted.fit);
  ASSERT_FALSE(fitted.predicted.empty()) << fitted.why_not_predicted;
  const auto share = [&](double ranks) { return fitted.fit->fixed_share + (1 - fitted.fit->fixed_share) / ranks; };
  EXPECT_GE(static_cast<double>(fitted.predicted.front().step_ns),
            static_cast<double>(fitted.measured.back().step_ns) * share(64) / share(4));
  EXPECT_THAT(fitted.notes, Contains(HasSubstr("of the own time of a single rank does not shrink")));
  const ScaleAnswer alone = answer_of({run_of(4, 0.001, 30, 32)}, options);
  EXPECT_LT(alone.predicted.front().step_ns, fitted.predicted.front().step_ns);
  EXPECT_THAT(alone.notes, Contains(HasSubstr("All own time is assumed to be inversely proportional")));
}

TEST(Scale, TellsABatchThatNeitherGrowsNorStays) {
  const ScaleAnswer shrinks = answer_of({run_of(2, 0.001, 30, 64), run_of(4, 0.001, 30, 32)}, {});
  EXPECT_THAT(shrinks.why_scaling, HasSubstr("batches of 64 on 2 ranks and of 32 on 4 ranks are equal neither"));
  const ScaleAnswer middle =
      answer_of({run_of(2, 0.001, 30, 32), run_of(4, 0.001, 30, 48), run_of(8, 0.001, 30, 32)}, {});
  EXPECT_EQ(middle.scaling, Scaling::weak) << "the first and the last one are alike only";
}

TEST(Scale, NamesTheRunThatLacksWhatIsAskedFor) {
  ScaleOptions options{.names = {"a.rankscope", "b.rankscope"}};
  options.report.steps = StepRange{20, 25};
  const auto answer = scale(std::vector{run_of(2), testing::make({.ranks = 4, .steps = 10})}, options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::usage);
  EXPECT_THAT(answer.error().message, ::testing::StartsWith("b.rankscope: "));
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
