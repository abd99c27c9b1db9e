// What can be told of a recording while its processes still write.
#include "rankscope/core/recording/live.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/segment_writer.h"
#include "recording/format/segment_file.h"
#include "recording/live/decoder.h"
#include "support/temporary_folder.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

/// A recording as it looks while its recorder runs: a mark in it names the folder of the segments.
class LiveRecording : public ::testing::Test {
 protected:
  LiveRecording() {
    fs::create_directories(spool());
    fs::create_directories(out());
    std::ofstream{out() / ("host-1" + std::string{spool_mark_suffix})} << spool().string() << '\n';
  }
  [[nodiscard]] fs::path out() const { return folder_ / "run.rankscope"; }
  [[nodiscard]] fs::path spool() const { return folder_ / "spool"; }
  [[nodiscard]] std::unique_ptr<SegmentWriter> segment(std::int32_t rank = 0, const std::string& name = "a") const {
    auto writer = SegmentWriter::create(
        {.path = spool() / (name + segment_suffix), .ring_kib = 1024, .rank = rank, .rank_source = "RANK"});
    if (!writer) throw std::runtime_error(writer.error().message);
    return std::move(*writer);
  }

  TemporaryFolder folder_;
};

void make_step(ThreadWriter& pen, std::int64_t index) {
  pen.push(SpanKind::step, "step");
  pen.attribute("index", index);
  pen.push(SpanKind::forward, "forward");
  pen.pop();
  pen.pop();
}

TEST_F(LiveRecording, StepsAreSeenAsTheyEnd) {
  const auto writer = segment(3);
  const auto pen = writer->thread();
  LiveReader reader{out()};
  make_step(*pen, 10);
  LiveView view = reader.poll();
  ASSERT_EQ(view.processes.size(), 1U);
  EXPECT_EQ(view.processes[0].rank, 3);
  EXPECT_EQ(view.processes[0].steps, 1U);
  EXPECT_EQ(view.processes[0].events, 2U);
  pen->push(SpanKind::step, "step");
  EXPECT_EQ(reader.poll().processes[0].steps, 1U) << "the second is still open";
  pen->attribute("index", 11);
  pen->pop();
  view = reader.poll();
  EXPECT_EQ(view.processes[0].steps, 2U);
  ASSERT_EQ(view.processes[0].last.size(), 2U);
  EXPECT_EQ(view.processes[0].last[0].index, 10);
  EXPECT_EQ(view.processes[0].last[1].index, 11);
  EXPECT_GT(view.processes[0].last[0].duration.count(), 0);
  EXPECT_GE(view.processes[0].last[1].begin, view.processes[0].last[0].begin + view.processes[0].last[0].duration);
  EXPECT_EQ(view.behind_bytes, 0U);
}

TEST_F(LiveRecording, ALongRunIsFollowedOverManyChunksWithBoundedMemory) {
  constexpr int steps = 3000;
  const auto writer = segment();
  const auto pen = writer->thread();
  LiveReader reader{out(), {.steps = 20, .values = 16}};
  LiveView view;
  std::uint64_t ticks = writer->clock().now();
  for (int i = 0; i < steps; ++i) {
    make_step(*pen, i);
    pen->counter("rss_bytes", i, ticks += 1'000'000'000);
    if (i % 500 == 499) {
      writer->refill();
      view = reader.poll();
      EXPECT_EQ(view.processes[0].steps, static_cast<std::uint64_t>(i + 1));
    }
  }
  ASSERT_GT(fs::file_size(writer->path()), 4 * chunk_bytes) << "or it is no test";
  EXPECT_EQ(view.processes[0].dropped, 0U);
  EXPECT_EQ(view.processes[0].last.size(), 20U);
  EXPECT_EQ(view.processes[0].last.back().index, steps - 1);
  ASSERT_EQ(view.processes[0].memory.size(), 1U);
  const auto& values = view.processes[0].memory[0].values;
  EXPECT_LE(values.size(), 16U);
  EXPECT_GE(values.size(), 8U);
  EXPECT_EQ(values.back().value, steps - 1);
  EXPECT_TRUE(std::ranges::is_sorted(values, {}, &LiveValue::time));
}

TEST_F(LiveRecording, NothingIsLostWhileAProgramWritesAsFastAsItCan) {
  constexpr int steps = 20'000;
  const auto writer = segment();
  LiveReader reader{out()};
  std::jthread program{[&] {
    const auto pen = writer->thread();
    for (int i = 0; i < steps; ++i) {
      make_step(*pen, i);
      if (i % 64 == 0) writer->refill();
    }
  }};
  LiveView view = reader.poll();
  std::uint64_t before = 0;
  while (view.processes.empty() || view.processes[0].steps + view.processes[0].dropped < steps) {
    view = reader.poll();
    ASSERT_EQ(view.unreadable, 0U);
    if (view.processes.empty()) continue;
    EXPECT_GE(view.processes[0].steps, before);
    before = view.processes[0].steps;
    if (view.processes[0].dropped > 0) break;
  }
  program.join();
  if (view.processes[0].dropped > 0) GTEST_SKIP() << "the disk was too slow for this program";
  EXPECT_EQ(view.processes[0].last.back().index, steps - 1);
}

TEST_F(LiveRecording, WhatIsTooMuchForOneLookComesWithTheNext) {
  const auto writer = segment();
  const auto pen = writer->thread();
  for (int i = 0; i < 2000; ++i) make_step(*pen, i);
  LiveReader reader{out(), {.bytes_per_poll = 1}};
  LiveView view = reader.poll();
  EXPECT_GT(view.behind_bytes, 0U);
  EXPECT_LT(view.processes[0].steps, 2000U);
  for (int i = 0; i < 20 && view.behind_bytes > 0; ++i) view = reader.poll();
  EXPECT_EQ(view.behind_bytes, 0U);
  EXPECT_EQ(view.processes[0].steps, 2000U);
}

TEST_F(LiveRecording, TheRestIsReadEvenWhenTheSegmentsAreGone) {
  const auto writer = segment();
  const auto pen = writer->thread();
  LiveReader reader{out()};
  make_step(*pen, 0);
  EXPECT_EQ(reader.poll().processes[0].steps, 1U);
  make_step(*pen, 1);
  writer->note_exit(0);
  fs::remove_all(spool());
  fs::remove_all(out());
  const LiveView view = reader.poll();
  ASSERT_EQ(view.processes.size(), 1U);
  EXPECT_EQ(view.processes[0].steps, 2U);
  EXPECT_TRUE(view.processes[0].ended);
}

TEST_F(LiveRecording, RangesNamedLikeAStepCountUntilThereAreSteps) {
  const auto writer = segment();
  const auto pen = writer->thread();
  LiveReader reader{out()};
  for (int i = 5; i < 8; ++i) {
    pen->push(SpanKind::user, "ProfilerStep#" + std::to_string(i));
    pen->push(SpanKind::user, "step_forward");
    pen->pop();
    pen->push(SpanKind::user, "step 1");  // inside another one: no step of its own
    pen->pop();
    pen->pop();
  }
  LiveView view = reader.poll();
  EXPECT_EQ(view.processes[0].steps, 3U);
  EXPECT_EQ(view.processes[0].last.back().index, 7);
  make_step(*pen, 0);
  view = reader.poll();
  EXPECT_EQ(view.processes[0].steps, 1U);
  EXPECT_EQ(view.processes[0].last.back().index, 0);
}

TEST_F(LiveRecording, StepsOfAnotherThreadAndTimeBehindTheLastStepAreNone) {
  const auto writer = segment();
  const auto pen = writer->thread();
  const auto other = writer->thread();
  LiveReader reader{out()};
  make_step(*pen, 0);
  make_step(*pen, -1);
  EXPECT_EQ(reader.poll().processes[0].steps, 1U);
  make_step(*other, 1);
  EXPECT_EQ(reader.poll().processes[0].steps, 1U);
}

TEST_F(LiveRecording, TheSplitOfAStepAddsUp) {
  const auto writer = segment();
  const auto pen = writer->thread();
  const auto comm = writer->thread();
  const auto spin = [] {
    const auto until = TickClock::now_monotonic() + 2'000'000;
    while (TickClock::now_monotonic() < until) {
    }
  };
  LiveReader reader{out(), {.host_delay = nanoseconds{0}}};
  pen->push(SpanKind::step, "step");
  pen->push(SpanKind::data, "data");
  spin();
  pen->pop();
  pen->push(SpanKind::forward, "forward");
  spin();
  pen->pop();
  pen->push(SpanKind::wait, "wait");
  spin();
  comm->comm_enqueued({.uid = 7, .group = "world", .op = "allreduce", .dtype = "f32", .members = "0,1"});
  comm->comm_started(7);
  spin();
  comm->comm_finished(7);
  pen->pop();
  pen->pop();
  pen->mark("behind it");
  const LiveView view = reader.poll();
  ASSERT_EQ(view.processes[0].last.size(), 1U);
  const LiveStep& step = view.processes[0].last[0];
  ASSERT_TRUE(step.split);
  const LiveSplit& split = *step.split;
  EXPECT_EQ(split.compute + split.communication + split.copies + split.data + split.wait + split.other, step.duration);
  for (const nanoseconds part : {split.compute, split.communication, split.data, split.wait})
    EXPECT_GE(part, nanoseconds{2'000'000});
  EXPECT_EQ(split.copies, nanoseconds{0});
}

TEST_F(LiveRecording, WhatADeviceDidCountsInPlaceOfTheHost) {
  const auto writer = segment();
  const auto pen = writer->thread();
  LiveReader reader{out(), {.device_delay = nanoseconds{0}}};
  pen->push(SpanKind::step, "step");
  pen->push(SpanKind::op, "aten::mm");  // only launches
  const ClockPair begin = writer->clock().pair();
  const auto until = TickClock::now_monotonic() + 3'000'000;
  while (TickClock::now_monotonic() < until) {
  }
  pen->pop();
  pen->pop();
  const auto told = writer->thread();
  told->anchor(ForeignClock::activities, begin.ticks, 5'000'000'000);
  told->activity(
      SpanKind::compute, "gemm",
      {.begin = 5'000'500'000, .end = 5'001'500'000, .device = 0, .context = 1, .stream = 7, .correlation = 1});
  told->activity(
      SpanKind::comm, "ncclDevKernel",
      {.begin = 5'001'000'000, .end = 5'002'000'000, .device = 0, .context = 1, .stream = 8, .correlation = 2});
  pen->mark("behind it");
  const LiveView view = reader.poll();
  ASSERT_TRUE(view.processes[0].last.at(0).split);
  const LiveSplit& split = *view.processes[0].last[0].split;
  EXPECT_NEAR(static_cast<double>(split.compute.count()), 1e6, 1e4) << "not the 3 ms of the host";
  EXPECT_NEAR(static_cast<double>(split.communication.count()), 0.5e6, 1e4) << "what compute does not hide";
}

TEST_F(LiveRecording, AStepWithMoreThanCanBeKeptHasNoSplit) {
  const auto writer = segment();
  const auto pen = writer->thread();
  LiveReader reader{out(), {.stretches = 10, .host_delay = nanoseconds{0}}};
  pen->push(SpanKind::step, "step");
  for (int i = 0; i < 50; ++i) {
    pen->push(SpanKind::op, "op");
    pen->pop();
  }
  pen->pop();
  EXPECT_FALSE(reader.poll().processes[0].last.at(0).split);
  make_step(*pen, 1);
  make_step(*pen, 2);
  const LiveView view = reader.poll();
  EXPECT_TRUE(view.processes[0].last.at(1).split) << "the next one has";
}

TEST_F(LiveRecording, MemoryIsToldByName) {
  const auto writer = segment();
  const auto pen = writer->thread();
  pen->counter("rss_bytes", 1e6);
  pen->counter("cpu_percent", 50);
  pen->counter("GPU 0 memory_used_bytes", 2e9);
  LiveReader reader{out()};
  const LiveView view = reader.poll();
  ASSERT_EQ(view.processes[0].memory.size(), 2U);
  EXPECT_EQ(view.processes[0].memory[0].name, "GPU 0 memory_used_bytes");
  EXPECT_EQ(view.processes[0].memory[1].values.at(0).value, 1e6);
}

TEST_F(LiveRecording, ProcessesAreSortedByRankAndAWatchedOneGivesWayToItsOwnSegment) {
  fs::create_directories(spool() / outside_folder);
  const auto make = [](const fs::path& path, std::int32_t rank, const char* source) {
    return *SegmentWriter::create({.path = path, .ring_kib = 64, .rank = rank, .rank_source = source});
  };
  const auto watched = make(spool() / outside_folder / ("host-5-9" + std::string{segment_suffix}), -1, watched_source);
  LiveReader reader{out()};
  LiveView view = reader.poll();
  ASSERT_EQ(view.processes.size(), 1U);
  EXPECT_TRUE(view.processes[0].watched);
  const auto second = make(spool() / ("host-7-9" + std::string{segment_suffix}), 1, "RANK");
  const auto none = make(spool() / ("host-6-9" + std::string{segment_suffix}), -1, "");
  const auto own = make(spool() / ("host-5-9" + std::string{segment_suffix}), 0, "RANK");
  view = reader.poll();
  ASSERT_EQ(view.processes.size(), 3U);
  EXPECT_EQ(view.processes[0].rank, 0);
  EXPECT_EQ(view.processes[1].rank, 1);
  EXPECT_EQ(view.processes[2].rank, -1);
  EXPECT_FALSE(view.processes[2].watched);
}

TEST_F(LiveRecording, WhatCannotBeReadIsCounted) {
  std::ofstream{spool() / ("bad" + std::string{segment_suffix})} << "no segment";
  std::ofstream{out() / ("far-1" + std::string{spool_mark_suffix})} << "/no/such/folder\n";
  const auto writer = segment();
  const auto extra = segment(1, "b");
  const auto beyond = segment(2, "c");
  LiveReader reader{out(), {.segments = 3}};
  const LiveView view = reader.poll();
  EXPECT_EQ(view.unreadable, 1U);
  EXPECT_EQ(view.elsewhere, 1U);
  EXPECT_EQ(view.left_out, 1U);
  EXPECT_EQ(view.processes.size(), 2U);
}

TEST_F(LiveRecording, HelpersThatEndedMakeRoomForOthers) {
  LiveReader reader{out(), {.segments = 2}};
  const auto trains = segment(0, "a");
  make_step(*trains->thread(), 0);
  segment(0, "b")->note_exit(0);
  EXPECT_EQ(reader.poll().processes.size(), 2U);
  const auto late = segment(1, "c");
  LiveView view = reader.poll();
  EXPECT_EQ(view.left_out, 0U);
  ASSERT_EQ(view.processes.size(), 2U);
  EXPECT_EQ(view.processes[0].steps, 1U);
  EXPECT_EQ(view.processes[1].rank, 1);
  const auto alive = segment(2, "d");
  EXPECT_EQ(reader.poll().left_out, 1U) << "nobody who runs gives way";
}

TEST_F(LiveRecording, ARecorderOfThisHostWhoseFolderIsGoneIsNotElsewhere) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  const auto mark = [&](const std::string& behind) {
    std::ofstream{out() / (host.data() + behind + std::string{spool_mark_suffix})} << "/no/such/folder\n";
  };
  mark("-7");
  mark("-2-7");
  LiveReader reader{out()};
  const LiveView view = reader.poll();
  EXPECT_EQ(view.elsewhere, 1U) << "of a host whose name begins alike";
  EXPECT_EQ(view.unreadable, 1U);
}

TEST_F(LiveRecording, AChunkThatShrinksIsNotReadOn) {
  const auto writer = segment();
  const auto pen = writer->thread();
  make_step(*pen, 0);
  LiveReader reader{out()};
  EXPECT_EQ(reader.poll().processes[0].steps, 1U);
  {
    std::fstream file{writer->path(), std::ios::in | std::ios::out | std::ios::binary};
    RawChunk chunk{};
    file.seekg(segment_header_bytes);
    file.read(reinterpret_cast<char*>(&chunk), sizeof chunk);
    ASSERT_GT(chunk.committed, 0U);
    chunk.committed = 0;
    file.seekp(segment_header_bytes);
    file.write(reinterpret_cast<const char*>(&chunk), sizeof chunk);
  }
  const LiveView view = reader.poll();
  EXPECT_EQ(view.unreadable, 1U);
  EXPECT_EQ(view.processes[0].steps, 1U) << "what was read stays";
}

TEST(LiveReader, ARecordingThatIsNotThereYetHasNoProcesses) {
  LiveReader reader{"no/such/run.rankscope"};
  EXPECT_TRUE(reader.poll().processes.empty());
}

HostTime after(std::int64_t ns) { return HostTime{nanoseconds{ns}}; }

TEST(LiveSplit, AnInstantCountsOnceAndStretchesMayReachOverSteps) {
  std::vector<LiveStep> steps{{.begin = after(100), .duration = nanoseconds{100}},
                              {.begin = after(200), .duration = nanoseconds{50}}};
  const std::vector<LiveStretch> stretches{{after(0), after(120), LiveLayer::compute},
                                           {after(110), after(150), LiveLayer::communication},
                                           {after(140), after(220), LiveLayer::wait},
                                           {after(145), after(160), LiveLayer::wait},
                                           {after(160), after(160), LiveLayer::compute}};
  split_steps(steps, stretches);
  EXPECT_EQ(steps[0].split,
            (LiveSplit{.compute = nanoseconds{20}, .communication = nanoseconds{30}, .wait = nanoseconds{50}}));
  EXPECT_EQ(steps[1].split, (LiveSplit{.wait = nanoseconds{20}, .other = nanoseconds{30}}));
}

}  // namespace
}  // namespace rankscope::recording
