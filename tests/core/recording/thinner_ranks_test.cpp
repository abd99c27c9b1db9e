// Ranks of which some were thinned out and others were not, and what is given up at once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/thinner.h"
#include "recording/format/segment_file.h"
#include "support/temporary_folder.h"
#include "thinned_rank.h"

namespace rankscope::recording {
namespace {

using testing::TemporaryFolder;
using namespace thinning;

/// A step of so many operations.
void communicate(Rank& rank, std::int64_t step, std::uint64_t operations) {
  rank.pen->push(SpanKind::step, "train");
  rank.pen->attribute("index", step);
  for (std::uint64_t i = 0; i < operations; ++i) {
    const std::uint64_t uid = static_cast<std::uint64_t>(step) * 1'000'000 + i;
    rank.pen->comm_enqueued(
        {.uid = uid, .bytes = 10, .group = "all", .op = "allreduce", .dtype = "f32", .members = "0,1"});
    rank.pen->comm_started(uid);
    rank.pen->comm_finished(uid);
    if (i % 100 == 0) rank.writer->refill();
  }
  rank.pen->pop();
  rank.writer->refill();
}

TEST(ThinnerRanks, ARankThatIsWholeHasSumsHoweverMuchItCommunicated) {
  const TemporaryFolder spool;
  Rank thinned{spool.path(), 0};
  Rank whole{spool.path(), 1};
  for (std::int64_t step = 0; step < 300; ++step) {
    communicate(whole, step, 300);  // 90,000 together
    thinned.steps(1);
  }
  EXPECT_GT(thinned.give_up(now()).events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps of_whole = steps_of(**run, RankId{1});
  expect_all_steps(of_whole, 300);
  EXPECT_EQ(of_whole.thinned, steps_of(**run, RankId{0}).thinned);
  EXPECT_EQ((*run)->quality().of(Counter::events_without_sums), 0U);
}

TEST(ThinnerRanks, WhatIsLeftOutOfARankThatIsWholeAndHasNoSumsIsLost) {
  constexpr std::uint64_t too_many = 70'000;  // operations of one step
  const TemporaryFolder spool;
  Rank thinned{spool.path(), 0};
  Rank whole{spool.path(), 1};
  for (std::int64_t step = 0; step < 300; ++step) {
    communicate(whole, step, step == 10 ? too_many : 1);
    thinned.steps(1);
  }
  EXPECT_GT(thinned.give_up(now()).events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_NEAR(static_cast<double>((*run)->quality().of(Counter::events_without_sums)), double{too_many}, 5);
}

TEST(ThinnerRanks, SumsOfARankThatWasOnlyFollowedForAWhileAreMadeOfItsEvents) {
  const TemporaryFolder spool;
  Rank thinned{spool.path(), 0};
  Rank whole{spool.path(), 1};
  thinned.steps(100);
  whole.steps(100);
  thinned.steps(200);
  for (int i = 0; i < 200; ++i) whole.step();
  EXPECT_GT(thinned.give_up(now()).events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps of_whole = steps_of(**run, RankId{1});
  expect_all_steps(of_whole, 300);
  EXPECT_GT(of_whole.thinned, 100U);
  EXPECT_EQ(of_whole.thinned, steps_of(**run, RankId{0}).thinned);
}

TEST(ThinnerRanks, RanksWithoutStepsBeginWithTheSameMoment) {
  const TemporaryFolder spool;
  Rank thinned{spool.path(), 0};
  Rank whole{spool.path(), 1};
  const auto operations = [&] {
    for (int i = 0; i < 20'000; ++i)
      for (Rank* rank : {&thinned, &whole}) {
        rank->pen->push(SpanKind::op, "aten::mm");
        rank->pen->pop();
        if (i % 100 == 0) rank->writer->refill();
      }
    thinned.thinner->follow(1U << 30);
  };
  operations();
  const HostTime half = now();
  operations();
  EXPECT_GT(thinned.give_up(half).events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const RunTime begin = (*run)->process_of(RankId{0}).recorded.begin;
  EXPECT_EQ((*run)->process_of(RankId{1}).recorded.begin, begin);
  EXPECT_TRUE(std::ranges::all_of((*run)->spans(), [begin](const Span& span) { return span.time.begin >= begin; }));
  EXPECT_NEAR(static_cast<double>(steps_of(**run, RankId{1}).operations), 20'000, 5'000);
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(ThinnerRanks, WaitsOfOtherThreadsAreNoneOfTheSteps) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  const auto trainer = rank.writer->thread();  // the first pen is a worker, and is read before
  for (std::int64_t step = 0; step < 20; ++step) {
    trainer->push(SpanKind::step, "train");
    trainer->attribute("index", step);
    rank.pen->push(SpanKind::wait, "queue.get");
    for (int i = 0; i < 10; ++i) {
      trainer->push(SpanKind::op, "aten::mm");
      trainer->pop();
    }
    rank.pen->pop();
    trainer->pop();
    rank.writer->refill();
  }
  rank.thinner->follow(1U << 30);
  const auto segment = read_segment(rank.path);
  ASSERT_TRUE(segment) << segment.error().message;
  ASSERT_GE(segment->step_sums.size(), 18U);
  for (const StepSums& sums : segment->step_sums) EXPECT_EQ(sums.fields.wait_ns, 0) << "step " << sums.fields.index;
}

TEST(ThinnerRanks, AThreadThatWritesMuchUsesWhatOthersLeaveOfTheBudget) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  std::vector<std::unique_ptr<ThreadWriter>> others;
  for (int i = 0; i < 7; ++i) {
    others.push_back(rank.writer->thread());
    others.back()->push(SpanKind::op, "aten::mm");
    others.back()->pop();
  }
  for (int i = 0; i < 50; ++i) rank.step();
  constexpr std::uint64_t budget = 1U << 20;
  EXPECT_GT(rank.thinner->follow(budget), budget / 8) << "its equal part";
  EXPECT_EQ(rank.thinner->behind(), 0U);
}

TEST(ThinnerRanks, OnlyAsMuchIsGivenUpAtOnceAsIsAllowed) {
  constexpr std::uint64_t budget = 1U << 20;
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(2000);
  const HostTime until = now();
  int calls = 0;
  for (bool is_all = false; !is_all; ++calls) {
    const auto given = rank.thinner->give_up(until, Thinner::Steps::whole, budget);
    ASSERT_TRUE(given) << given.error().message;
    ASSERT_GT(given->bytes, 0U);
    EXPECT_LE(given->bytes, 2 * budget + (64U << 10));
    is_all = given->is_all;
    const auto run = read_recording(spool.path());
    ASSERT_TRUE(run) << run.error().message;
    const SeenSteps seen = steps_of(**run, RankId{0});
    expect_all_steps(seen, 2000);
    EXPECT_EQ(seen.operations, 200 * (2000 - seen.thinned)) << "call " << calls;
    EXPECT_EQ(data_loss_in(**run), 0U);
  }
  EXPECT_GT(calls, 4);
  EXPECT_TRUE(rank.thinner->has_given_up());
  EXPECT_EQ(rank.give_up(until).bytes, 0U) << "nothing is left";
}

}  // namespace
}  // namespace rankscope::recording
