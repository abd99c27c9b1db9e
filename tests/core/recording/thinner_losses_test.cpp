// What is thinned out is never lost without a word: sums are right, or they are missing and that is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/thinner.h"
#include "recording/format/segment_file.h"
#include "support/temporary_folder.h"
#include "thinned_rank.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;
using namespace thinning;

/// Sums of all steps, as the file of a rank has them.
std::vector<StepSums> sums_in(const Rank& rank) {
  const auto segment = read_segment(rank.path);
  if (!segment) throw std::runtime_error(segment.error().message);
  return segment->step_sums;
}

TEST(Thinner, SumsDoNotDependOnHowMuchIsReadAtOnce) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  const auto other = rank.writer->thread();  // executes communication, of which the first pen says nothing
  for (std::int64_t step = 0; step < 60; ++step) {
    rank.pen->push(SpanKind::step, "train");
    rank.pen->attribute("index", step);
    for (int i = 0; i < 200; ++i) {
      rank.pen->push(SpanKind::op, "aten::mm");
      rank.pen->pop();
    }
    for (std::uint64_t i = 0; i < 50; ++i) {
      const std::uint64_t uid = static_cast<std::uint64_t>(step) * 50 + i;
      other->comm_enqueued(
          {.uid = uid, .bytes = 10, .group = "all", .op = "allreduce", .dtype = "f32", .members = "0,1"});
      other->comm_started(uid);
      other->comm_finished(uid);
    }
    rank.pen->pop();
    rank.writer->refill();
  }
  Thinner slow{rank.path, at_once};
  for (int round = 0; round < 2000; ++round) slow.follow(20'000);
  const std::vector<StepSums> piecemeal = sums_in(rank);
  fs::remove_all(spool / std::string{sums_folder});
  Thinner fast{rank.path, at_once};
  fast.follow(1U << 30);
  const std::vector<StepSums> whole = sums_in(rank);
  ASSERT_GE(whole.size(), 58U);
  ASSERT_EQ(piecemeal.size(), whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i].fields.operations, 50) << "step " << i;
    EXPECT_EQ(std::memcmp(&piecemeal[i].fields, &whole[i].fields, sizeof(StepSumsFields)), 0) << "step " << i;
  }
}

TEST(Thinner, AStepWithoutSumsIsNeverGivenUpAsIfItHadSome) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.thinner.emplace(rank.path, LiveLimits{.steps = 1U << 14,
                                             .stretches = 50,  // fewer than a step has
                                             .device_delay = nanoseconds{0},
                                             .host_delay = nanoseconds{0}});
  rank.steps(300);
  EXPECT_EQ(rank.give_up(now()).events, 0U);
  const Thinner::GivenUp torn = rank.give_up(now(), Thinner::Steps::any);
  EXPECT_GT(torn.events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::events_without_sums), torn.events);
  EXPECT_EQ(data_loss_in(**run), torn.events) << "nothing but these";
}

TEST(Thinner, WhatComesAfterTheLastStepIsGivenUpIfThatIsAskedFor) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(20);
  const auto evaluate = [&rank] {
    for (int i = 0; i < 50'000; ++i) {
      rank.pen->push(SpanKind::op, "aten::mm");
      rank.pen->pop();
      if (i % 100 == 0) rank.writer->refill();
      if (i % 1000 == 0) rank.thinner->follow(1U << 30);
    }
    rank.thinner->follow(1U << 30);
  };
  evaluate();
  rank.give_up(now());
  evaluate();
  EXPECT_GT(rank.give_up(now(), Thinner::Steps::any).events, 80'000U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(std::ssize(steps_of(**run, RankId{0}).indices), 20) << "sums stand for all of them";
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(Thinner, AHangInAJobWithoutStepsStaysVisible) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.pen->push(SpanKind::op, "outer");
  rank.pen->comm_enqueued(
      {.uid = 77, .sequence = 5, .bytes = 8, .group = "all", .op = "allreduce", .dtype = "f32", .members = "0,1"});
  rank.pen->comm_started(77);  // and hangs
  const auto other = rank.writer->thread();
  for (int i = 0; i < 50'000; ++i) {
    rank.pen->push(SpanKind::op, "aten::mm");
    rank.pen->pop();
    other->push(SpanKind::op, "poll");
    other->pop();
    if (i % 100 == 0) rank.writer->refill();
    if (i % 1000 == 0) rank.thinner->follow(1U << 30);
  }
  other->push(SpanKind::op, "inner");  // is open, too
  rank.thinner->follow(1U << 30);
  EXPECT_GT(rank.give_up(now()).events, 50'000U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const auto collectives = (*run)->collectives();
  ASSERT_EQ(collectives.size(), 1U);
  EXPECT_EQ(collectives[0].sequence, 5);
  EXPECT_EQ(collectives[0].state, CommState::started);
  EXPECT_EQ((*run)->quality().of(Counter::pop_without_push), 0U);
  const auto is_open = [&](std::string_view name) {
    return std::ranges::any_of((*run)->spans(), [&](const Span& span) {
      return (*run)->text(span.name) == name && (span.flags & span_flag::cut_end) != 0;
    });
  };
  EXPECT_TRUE(is_open("inner"));
  EXPECT_FALSE(is_open("outer")) << "its begin was given up";
}

TEST(Thinner, AnOperationWhoseEndWasGivenUpHasNotHung) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.pen->comm_enqueued(
      {.uid = 77, .sequence = 5, .bytes = 8, .group = "all", .op = "allreduce", .dtype = "f32", .members = "0,1"});
  const auto other = rank.writer->thread();  // the first pen stays in its first chunk, which is never given up
  other->comm_started(77);
  other->comm_finished(77);
  for (int i = 0; i < 50'000; ++i) {
    other->push(SpanKind::op, "poll");
    other->pop();
    if (i % 100 == 0) rank.writer->refill();
    if (i % 1000 == 0) rank.thinner->follow(1U << 30);
  }
  rank.thinner->follow(1U << 30);
  EXPECT_GT(rank.give_up(now()).events, 20'000U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE((*run)->collectives().empty());
}

TEST(Thinner, ARankThatIsWholeHasSumsOfTheStepsThatOthersHaveAsSums) {
  const TemporaryFolder spool;
  Rank thinned{spool.path(), 0};
  Rank whole{spool.path(), 1};
  thinned.steps(300);
  for (int i = 0; i < 300; ++i) whole.step();  // nobody thins it out
  EXPECT_GT(thinned.give_up(now()).events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps of_thinned = steps_of(**run, RankId{0});
  ASSERT_GT(of_thinned.thinned, 0U);
  const SeenSteps of_whole = steps_of(**run, RankId{1});
  expect_all_steps(of_whole, 300);
  EXPECT_EQ(of_whole.thinned, of_thinned.thinned);
  for (const Collective& collective : (*run)->collectives())
    EXPECT_GE(collective.sequence, static_cast<std::int64_t>(of_thinned.thinned)) << "rank " << collective.rank.value;
}

TEST(Thinner, ADamagedFileOfSumsLeavesTheSegmentReadable) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(50);
  const fs::path sums = sums_of(rank.path);
  ASSERT_TRUE(fs::exists(sums));
  const auto operations = [&] {
    const auto run = read_recording(spool.path());
    if (!run) throw std::runtime_error(run.error().message);
    return steps_of(**run, RankId{0}).operations;
  };
  const auto corrupt_in = [&] {
    const auto segment = read_segment(rank.path);
    if (!segment) throw std::runtime_error(segment.error().message);
    EXPECT_FALSE(segment->header_is_damaged());
    return segment->quality.of(Counter::chunks_corrupt);
  };
  rank.thinner.reset();
  for (const std::uintmax_t bytes : {5000U, 4096U, 300U, 10U, 0U}) {
    fs::resize_file(sums, bytes);
    EXPECT_EQ(operations(), 50U * 200U) << bytes << " bytes are left";
  }
  EXPECT_EQ(corrupt_in(), 0U) << "an empty file was never written to";
  fs::resize_file(sums, 8192);
  EXPECT_EQ(corrupt_in(), 0U) << "nor was one of zeros";
  std::ofstream{sums} << std::string(8192, 'x');
  EXPECT_EQ(operations(), 50U * 200U);
  EXPECT_EQ(corrupt_in(), 1U);
}

}  // namespace
}  // namespace rankscope::recording
