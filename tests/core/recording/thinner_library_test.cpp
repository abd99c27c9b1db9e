// What stays of operations that a communication library reported, and of many that have not ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>

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

/// As the profiler of NCCL reports them: nothing says when they end.
void report_operation(ThreadWriter& pen, std::uint64_t uid) {
  pen.comm_enqueued({.uid = uid,
                     .sequence = static_cast<std::int64_t>(uid),
                     .bytes = 8,
                     .group = "0x1",
                     .op = "AllReduce",
                     .dtype = "f32",
                     .members = ""});
  pen.comm_returned(uid);
}

/// Something else that takes much room.
void compute(Rank& rank, ThreadWriter& pen, int count) {
  for (int i = 0; i < count; ++i) {
    pen.push(SpanKind::op, "aten::mm");
    pen.pop();
    if (i % 100 == 0) rank.writer->refill();
    if (i % 1000 == 0) rank.thinner->follow(1U << 30);
  }
  rank.thinner->follow(1U << 30);
}

/// A kernel that is known to have run now.
void run_kernel(ThreadWriter& device) {
  const std::int64_t begin = wall_now();
  device.activity(SpanKind::compute, "gemm",
                  {.begin = begin, .end = begin + 1, .device = 0, .context = 0, .stream = 7, .correlation = 0});
}

/// Reports operations that ran long ago if `earlier` does, one that has no kernel, and then whatever follows.
std::vector<Collective> hung_operations(const std::function<void(Rank& rank, ThreadWriter& other)>& follow) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.pen->communicator("0x1", 1, 0);
  report_operation(*rank.pen, 41);
  report_operation(*rank.pen, 42);  // hangs
  const auto other = rank.writer->thread();
  follow(rank, *other);
  EXPECT_GT(rank.give_up(now()).events, 20'000U);
  run_kernel(*other);
  rank.writer->refill();
  const auto run = read_recording(spool.path());
  EXPECT_TRUE(run) << run.error().message;
  if (!run) return {};
  EXPECT_EQ(data_loss_in(**run), 0U);
  const auto all = (*run)->collectives();
  return {all.begin(), all.end()};
}

TEST(ThinnerLibrary, AnOperationThatWasEnqueuedAndHasNoKernelIsStillThere) {
  for (const bool with_its_chunk : {true, false}) {
    const auto found = hung_operations([with_its_chunk](Rank& rank, ThreadWriter& other) {
      compute(rank, with_its_chunk ? *rank.pen : other, 50'000);
    });
    ASSERT_EQ(found.size(), 1U) << with_its_chunk;
    EXPECT_EQ(found[0].sequence, 42);
    EXPECT_EQ(found[0].state, CommState::enqueued);
  }
}

TEST(ThinnerLibrary, AnOperationWhoseChannelsWereTimedHasNotHung) {
  const auto found = hung_operations([](Rank& rank, ThreadWriter& other) {
    const std::int64_t begin = wall_now();
    other.comm_device_times(42, begin, begin + 10);
    compute(rank, other, 50'000);  // the chunk with the operation is not given up, that with its times is
  });
  EXPECT_TRUE(found.empty());
}

TEST(ThinnerLibrary, WhatStaysDoesNotGrowWithTheirNumber) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.pen->communicator("0x1", 1, 0);
  constexpr std::uint64_t count = 40'000;
  for (std::uint64_t uid = 0; uid < count; ++uid) {
    report_operation(*rank.pen, uid);
    if (uid % 100 == 0) rank.writer->refill();
    if (uid % 2000 == 1999) {
      rank.thinner->follow(1U << 30);
      rank.give_up(now());
    }
  }
  rank.thinner->follow(1U << 30);
  EXPECT_LT(blocks_of(sums_of(rank.path)), 256U << 10);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const std::uint64_t thinned = (*run)->quality().of(Counter::events_thinned);
  EXPECT_GT(thinned, count / 2);
  EXPECT_LE((*run)->quality().of(Counter::comm_times_unknown) + thinned, count + 1) << "each of them once";
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(ThinnerLibrary, AsManyOperationsAsThereAreStayIfTheyHaveNotEnded) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  constexpr std::uint64_t count = 30'000;
  for (std::uint64_t uid = 0; uid < count; ++uid) {
    rank.pen->comm_enqueued({.uid = uid,
                             .sequence = static_cast<std::int64_t>(uid),
                             .bytes = 8,
                             .group = "all",
                             .op = "allreduce",
                             .dtype = "f32",
                             .members = "0,1"});
    rank.pen->comm_started(uid);
    if (uid % 100 == 0) rank.writer->refill();
  }
  rank.thinner->follow(1U << 30);
  EXPECT_GT(rank.give_up(now()).events, count / 2);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->collectives().size(), count);
  EXPECT_TRUE(std::ranges::all_of((*run)->collectives(),
                                  [](const Collective& one) { return one.state == CommState::started; }));
  EXPECT_EQ(data_loss_in(**run), 0U);
}

}  // namespace
}  // namespace rankscope::recording
