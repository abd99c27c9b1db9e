// Sampler, loader, buckets, pace and the plan of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "rankscope/trainer/data/loader.h"
#include "rankscope/trainer/layout/buckets.h"
#include "rankscope/trainer/layout/sampler.h"
#include "rankscope/trainer/plan/pace.h"
#include "rankscope/trainer/plan/run_plan.h"

namespace rankscope::trainer {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

std::vector<std::int64_t> all_ranks(std::int64_t samples, int ranks, std::int64_t epoch) {
  std::vector<std::int64_t> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto mine = DistributedSampler{.samples = samples, .ranks = ranks, .rank = rank, .seed = 9}.epoch(epoch);
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  return all;
}

TEST(Sampler, RanksPartitionTheSamples) {
  std::vector<std::int64_t> each(12);
  std::iota(each.begin(), each.end(), 0);
  EXPECT_EQ(all_ranks(12, 4, 0), each);
  EXPECT_EQ(all_ranks(12, 3, 7), each);
}

TEST(Sampler, ARaggedEpochIsPaddedByWrapAroundSoThatAllRanksHaveEquallyMany) {
  const auto all = all_ranks(10, 4, 0);
  EXPECT_EQ(all.size(), 12u);
  std::vector<std::int64_t> distinct = all;
  const auto repeated = std::ranges::unique(distinct);
  distinct.erase(repeated.begin(), repeated.end());
  EXPECT_EQ(distinct.size(), 10u);
}

TEST(Sampler, EpochsDifferAndRepeat) {
  const DistributedSampler sampler{.samples = 50, .ranks = 2, .rank = 1, .seed = 3};
  EXPECT_NE(sampler.epoch(0), sampler.epoch(1));
  EXPECT_EQ(sampler.epoch(1), sampler.epoch(1));
}

TEST(Sampler, ABatchOfTwoRanksIsTheBatchOfOne) {
  const auto one = DistributedSampler{.samples = 8, .ranks = 1, .rank = 0, .seed = 3}.epoch(0);
  const auto first = DistributedSampler{.samples = 8, .ranks = 2, .rank = 0, .seed = 3}.epoch(0);
  const auto second = DistributedSampler{.samples = 8, .ranks = 2, .rank = 1, .seed = 3}.epoch(0);
  EXPECT_EQ((std::vector{one[0], one[2], one[1], one[3]}), (std::vector{first[0], first[1], second[0], second[1]}));
}

TEST(Loader, WorkersKeepTheOrderAcrossEpochs) {
  const auto source = synthetic_samples({.sequence = 4, .classes = 1000}, 10, 1);
  const BatchPlan plan{.sampler = {.samples = 10, .ranks = 1, .rank = 0, .seed = 4}, .batch = 3};
  Loader one{*source, plan, 1};
  Loader three{*source, plan, 3};
  for (int n = 0; n < 10; ++n) {
    const Batch expected = one.next();
    EXPECT_EQ(expected.size, 3);
    EXPECT_EQ(three.next().tokens, expected.tokens) << n;
  }
}

using Buckets = std::vector<std::vector<std::size_t>>;

TEST(Buckets, AreClosedAtTheirCapAndTheFirstIsSmall) {
  const std::vector<std::size_t> sizes{50, 30, 10, 10, 10};
  EXPECT_EQ(assign_buckets(sizes, reverse_order(5), {.first_bytes = 20, .bytes = 40}), (Buckets{{4, 3}, {2, 1}, {0}}));
  EXPECT_EQ(assign_buckets(sizes, reverse_order(5), {.first_bytes = 1000, .bytes = 1000}), (Buckets{{4, 3, 2, 1, 0}}));
  EXPECT_EQ(assign_buckets(sizes, std::vector<std::int64_t>{0, 1, 2, 3, 4}, {.first_bytes = 1, .bytes = 1}),
            (Buckets{{0}, {1}, {2}, {3}, {4}}));
}

TEST(Pace, ThePartsOfAStepAddUpToIt) {
  const std::vector<double> work{1, 2, 7};
  const PaceSchedule schedule = pace_schedule(milliseconds{100}, work, 2);
  const auto forward = std::accumulate(schedule.forward.begin(), schedule.forward.end(), nanoseconds{0});
  const auto backward = std::accumulate(schedule.backward.begin(), schedule.backward.end(), nanoseconds{0});
  EXPECT_NEAR(static_cast<double>((2 * (forward + backward) + schedule.optimizer).count()), 1e8, 20);
  EXPECT_NEAR(static_cast<double>(backward.count()) / static_cast<double>(forward.count()), 2.0, 1e-6);
  EXPECT_LT(schedule.forward[0], schedule.forward[2]);
}

TEST(Pace, AutomaticKeepsTheCoresHalfIdle) {
  EXPECT_EQ(automatic_pace(milliseconds{1}, 4, 2), milliseconds{100});
  EXPECT_EQ(automatic_pace(milliseconds{80}, 4, 2), milliseconds{320});
}

TEST(Pace, ByDefaultOnlyWhereRanksOutnumberCores) {
  EXPECT_EQ(effective_pace({}, 4, 2), PaceMode::automatic);
  EXPECT_EQ(effective_pace({}, 2, 2), PaceMode::off);
  EXPECT_EQ(effective_pace({.given = true}, 1, 2), PaceMode::automatic);
  EXPECT_EQ(effective_pace({.mode = PaceMode::off, .given = true}, 4, 2), PaceMode::off);
}

TEST(Pacer, DeadlinesAreCumulativeAndScaledByTheFactor) {
  using Clock = std::chrono::steady_clock;
  Pacer pacer{{.forward = std::vector<nanoseconds>(20, milliseconds{1}), .backward = {}, .optimizer = milliseconds{1}}};
  pacer.slow_down(2.0);
  const auto begin = Clock::now();
  pacer.begin_forward();
  for (std::size_t block = 0; block < 20; ++block) pacer.forward_done(block);
  EXPECT_GE(Clock::now() - begin, milliseconds{40});
}

TEST(Pacer, UnpacedASlowRankStretchesItsOwnTime) {
  using Clock = std::chrono::steady_clock;
  Pacer pacer{{.forward = {nanoseconds{0}}, .backward = {}}};
  pacer.slow_down(3.0);
  const auto begin = Clock::now();
  pacer.begin_forward();
  while (Clock::now() - begin < milliseconds{2}) {
  }
  pacer.forward_done(0);
  EXPECT_GE(Clock::now() - begin, milliseconds{6});
  EXPECT_EQ(pacer.overruns(), 0);
}

TEST(Pacer, WhatIsWaitedForOthersIsNotTheRanksOwnTime) {
  using Clock = std::chrono::steady_clock;
  nanoseconds waited{milliseconds{100}};  // before it begins: not of this part
  Pacer pacer{{.forward = {milliseconds{2}, milliseconds{2}}, .backward = {}}, [&] { return waited; }};
  const auto begin = Clock::now();
  pacer.begin_forward();
  waited += milliseconds{5};
  pacer.forward_done(0);
  EXPECT_GE(Clock::now() - begin, milliseconds{7});
  EXPECT_LT(Clock::now() - begin, milliseconds{100});
  pacer.forward_done(1);
  EXPECT_GE(Clock::now() - begin, milliseconds{9}) << "waited once, counted once";
}

struct Wanted {
  std::int64_t steps = 0;
  std::int64_t epochs = 0;
  std::int64_t global_batch = 0;
  std::int64_t batch_per_device = 0;
  int accumulate = 1;
};

Result<RunPlan> plan(const Wanted& wanted, std::int64_t samples, int ranks = 2) {
  TrainOptions options;
  options.steps = wanted.steps;
  options.epochs = wanted.epochs;
  options.global_batch = wanted.global_batch;
  options.batch_per_device = wanted.batch_per_device;
  options.accumulate = wanted.accumulate;
  return plan_run(options, {.world_size = ranks}, samples);
}

TEST(RunPlan, EpochsAndStepsEndWithTheFirst) {
  EXPECT_EQ(plan({.steps = 7, .batch_per_device = 2}, 40)->steps, 7);
  EXPECT_EQ(plan({.epochs = 2, .batch_per_device = 2}, 40)->steps, 20);
  EXPECT_EQ(plan({.epochs = 2, .batch_per_device = 2, .accumulate = 5}, 40)->steps, 4);
  EXPECT_EQ(plan({.steps = 7, .epochs = 2, .batch_per_device = 2}, 40)->steps, 7);
}

TEST(RunPlan, TheGlobalBatchIsDividedOverDevicesAndMicroSteps) {
  const auto divided = plan({.global_batch = 32, .accumulate = 4}, 64);
  EXPECT_EQ(divided->batch.per_device, 4);
  EXPECT_EQ(divided->loading.batch, 4);
  EXPECT_FALSE(plan({.global_batch = 30, .accumulate = 4}, 64));
}

TEST(RunPlan, TooFewSamplesAreRefused) {
  EXPECT_FALSE(plan({}, 3, 4));
  EXPECT_FALSE(plan({.batch_per_device = 8}, 14));
}

}  // namespace
}  // namespace rankscope::trainer
