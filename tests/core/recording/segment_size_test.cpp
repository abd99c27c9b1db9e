// A segment is hardly larger than what was written to it, and where it may not grow, events are lost and nothing else.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <thread>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/segment_writer.h"
#include "recording/format/segment_file.h"
#include "recording/live/segment.h"
#include "support/temporary_folder.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;
using testing::TemporaryFolder;

constexpr std::uint64_t allowance = 64 * 1024;  // of a living process

/// A recording of one segment.
class Recording {
 public:
  Recording() { fs::create_directory(folder_ / segment_folder); }
  [[nodiscard]] fs::path segment() const { return folder_ / segment_folder / "a.rseg"; }
  [[nodiscard]] std::unique_ptr<SegmentWriter> create(std::uint32_t ring_kib = 4096) const {
    auto writer = SegmentWriter::create({.path = segment(), .ring_kib = ring_kib, .rank = 0, .rank_source = "RANK"});
    if (!writer) throw std::runtime_error(writer.error().message);
    return std::move(*writer);
  }
  [[nodiscard]] std::uint64_t size() const { return fs::file_size(segment()); }
  /// What gathering would keep of it now.
  [[nodiscard]] std::uint64_t kept() const {
    const fs::path packed = folder_ / "packed";
    const auto summary = gather_segment(segment(), packed);
    fs::remove(packed);
    return summary ? summary->bytes : 0;
  }
  [[nodiscard]] std::shared_ptr<const Run> read() const {
    auto run = read_recording(folder_.path());
    EXPECT_TRUE(run) << run.error().message;
    return run ? *run : nullptr;
  }

 private:
  TemporaryFolder folder_;
};

TEST(SegmentSize, OfAProcessThatTellsLittleIsSmall) {
  const Recording recording;
  const auto writer = recording.create();
  const auto pen = writer->thread();
  const auto housekeeping = writer->thread();
  pen->mark("here");
  housekeeping->clock_pair();
  writer->refill();
  EXPECT_LE(recording.size(), 32U * 1024);
}

TEST(SegmentSize, IsAtMostTwiceWhatIsKeptAtAnyTime) {
  const Recording recording;
  const auto writer = recording.create();
  const auto pen = writer->thread();
  const auto other = writer->thread();
  for (int i = 0; i < 200'000; ++i) {
    pen->push(SpanKind::op, i % 2 == 0 ? "even" : "odd");
    pen->pop();
    if (i % 50 == 0) other->counter("rss_bytes", i);
    if (i % 300 == 0) writer->refill();
    if (i % 5000 != 1) continue;
    ASSERT_LE(recording.size(), 2 * recording.kept() + allowance) << i;
  }
  EXPECT_EQ(recording.read()->quality().of(Counter::events_dropped), 0U);
}

TEST(SegmentSize, AThreadThatEndsLeavesTheRestOfItsChunkToTheNext) {
  constexpr std::uint64_t threads = 10'000;
  const Recording recording;
  {
    const auto writer = recording.create();
    for (std::uint64_t i = 0; i < threads; ++i) {
      writer->thread()->mark("short life");
      if (i % 100 == 0) writer->refill();
    }
    ASSERT_LE(recording.size(), 2 * recording.kept() + allowance);
  }
  const auto run = recording.read();
  EXPECT_EQ(run->marks().size(), threads);
  for (const Counter counter : {Counter::chunks_missing, Counter::chunks_corrupt, Counter::segment_cut})
    EXPECT_EQ(run->quality().of(counter), 0U);
}

TEST(SegmentSize, ThreadsThatEndTogetherLeaveTheirRestsToOthers) {
  const Recording recording;
  const auto writer = recording.create();
  std::vector<std::unique_ptr<ThreadWriter>> pens;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 200; ++i) {
      pens.push_back(writer->thread());
      pens.back()->mark("short life");
    }
    pens.clear();
    writer->refill();
  }
  EXPECT_LE(recording.size(), 4U * 1024 * 1024) << "200 chunks of 8 KiB, which all rounds share, and half of it ahead";
  EXPECT_EQ(recording.read()->marks().size(), 4000U);
}

TEST(SegmentSize, ABusyThreadDoesNotGetTheSmallRestsOfOthers) {
  const Recording recording;
  const auto writer = recording.create();
  std::vector<std::unique_ptr<ThreadWriter>> pens;
  for (int i = 0; i < 200; ++i) {
    pens.push_back(writer->thread());
    for (int k = 0; k < 420; ++k) pens.back()->mark("nearly a chunk");  // 16 bytes each, of 8 KiB
  }
  pens.clear();
  const std::uint32_t busy = writer->header().threads.load();
  const auto pen = writer->thread();
  for (int i = 0; i < 100'000; ++i) {
    pen->mark("busy");
    if (i % 1000 == 0) writer->refill();
  }
  const auto segment = read_segment(recording.segment());
  ASSERT_TRUE(segment) << segment.error().message;
  EXPECT_LE(std::ranges::count(segment->chunks, busy, &Chunk::thread), 60) << "of the 200 rests at most one";
}

TEST(SegmentSize, WhatIsHandedOnIsFollowedLive) {
  const Recording recording;
  const auto writer = recording.create();
  LiveSegment live{recording.segment()};
  std::uint64_t pieces = 0;
  const auto poll = [&] {
    EXPECT_TRUE(live.poll(1U << 20, [&](const LivePiece&) { ++pieces; }));
    EXPECT_FALSE(live.damaged());
    EXPECT_EQ(live.behind(), 0U);
  };
  const auto lasting = writer->thread();
  for (std::uint64_t i = 1; i <= 300; ++i) {
    writer->thread()->mark("short life");
    if (i % 7 == 0) poll();
    if (i % 11 == 0) writer->refill();
  }
  lasting->mark("at last");
  poll();
  EXPECT_EQ(pieces, 301U) << "each thread once";
}

TEST(SegmentSize, LongNamesOfOneRecordStandTogetherInASmallSegment) {
  const std::string group(3990, 'g');
  const std::string members = "0,1";
  const std::string op(3990, 'o');
  const Recording recording;
  {
    const auto writer = recording.create();
    for (int i = 0; i < 5; ++i) {
      const auto pen = writer->thread();
      pen->mark("first");
      pen->comm_enqueued({.uid = static_cast<std::uint64_t>(i),
                          .sequence = i,
                          .bytes = 8,
                          .group = group,
                          .op = op,
                          .dtype = "f32",
                          .members = members});
      pen->metadata(std::string(3990, 'k'), std::string(3990, 'v'));
      pen->device("gpu", 0, std::string(3990, 'u'), std::vector<Item>{{.key = std::string_view{group}, .text = op}});
    }
    EXPECT_EQ(writer->header().events_dropped.load(), 0U);
  }
  EXPECT_EQ(recording.read()->collectives().size(), 5U);
}

TEST(SegmentSize, DeepNestsFitIntoTheFirstChunksOfAThread) {
  constexpr std::size_t deep = 900;
  const Recording recording;
  {
    const auto writer = recording.create();
    const auto pen = writer->thread();
    for (std::size_t i = 0; i < deep; ++i) pen->push(SpanKind::op, "level " + std::to_string(i));
    for (std::size_t i = 0; i < deep; ++i) pen->pop();
  }
  const auto run = recording.read();
  EXPECT_EQ(run->spans().size(), deep);
  EXPECT_EQ(run->quality().of(Counter::events_dropped), 0U);
}

/// The status of a child process, 128 and more if a signal ended it.
int status_of(const std::function<int()>& child) {
  const pid_t process = fork();
  if (process == 0) _exit(child());
  int state = 0;
  waitpid(process, &state, 0);
  return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

void write_pairs(SegmentWriter& writer, int count) {
  const auto pen = writer.thread();
  for (int i = 0; i < count; ++i) {
    pen->push(SpanKind::op, "op");
    pen->pop();
    if (i % 1000 == 0) writer.refill();
  }
}

void limit_files_to(rlim_t bytes) {
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &limit);
}

volatile std::sig_atomic_t signals_seen = 0;

TEST(FileSizeLimit, LosesEventsAndSendsNoSignal) {
  for (const rlim_t bytes : {rlim_t{70'000}, rlim_t{3'000'000}}) {
    const Recording recording;
    const int status = status_of([&] {
      std::signal(SIGXFSZ, [](int) { signals_seen = signals_seen + 1; });
      limit_files_to(bytes);
      const auto writer = recording.create();
      write_pairs(*writer, 200'000);
      return signals_seen + (writer->header().events_dropped.load() > 0 ? 0 : 50);
    });
    EXPECT_EQ(status, 0) << bytes;
    EXPECT_LE(recording.size(), bytes);
    EXPECT_GT(recording.read()->spans().size(), 1000U);
    EXPECT_GT(recording.read()->quality().of(Counter::disk_full), 0U);
  }
}

TEST(FileSizeLimit, TooLowForASegmentIsAnErrorAndNoSignal) {
  const Recording recording;
  EXPECT_EQ(status_of([&] {
              limit_files_to(10'000);
              return SegmentWriter::create({.path = recording.segment(), .rank_source = ""}) ? 1 : 0;
            }),
            0);
  EXPECT_FALSE(fs::exists(recording.segment()));
}

TEST(FileSizeLimit, ThatAnotherThreadLowersAtAnyTimeSendsNoSignal) {
  const Recording recording;
  EXPECT_EQ(status_of([&] {
              const auto writer = recording.create();
              std::jthread other{[](const std::stop_token& stop) {
                while (!stop.stop_requested()) {
                  limit_files_to(8192);
                  limit_files_to(RLIM_INFINITY);
                }
              }};
              write_pairs(*writer, 500'000);
              return 0;
            }),
            0);
}

TEST(FileSizeLimit, LeavesAPendingSignalOfTheProgramPending) {
  const Recording recording;
  EXPECT_EQ(status_of([&] {
              sigset_t one;
              sigemptyset(&one);
              sigaddset(&one, SIGXFSZ);
              pthread_sigmask(SIG_BLOCK, &one, nullptr);
              raise(SIGXFSZ);
              const auto writer = recording.create(64);
              limit_files_to(100'000);
              write_pairs(*writer, 50'000);
              sigset_t pending;
              sigpending(&pending);
              return sigismember(&pending, SIGXFSZ) == 1 ? 0 : 1;
            }),
            0);
}

TEST(SegmentSize, AProgramThatClosesAllDescriptorsKeepsItsOwnFilesAndLosesNothing) {
  constexpr int pairs = 100'000;
  const Recording recording;
  const TemporaryFolder folder;
  const std::string text = "what the program writes";
  EXPECT_EQ(status_of([&] {
              const auto writer = recording.create();
              write_pairs(*writer, 10);
              for (int file = 3; file < 1024; ++file) close(file);
              for (int file = 3; file < 1024; ++file)  // under each number that was ours
                if (open((folder / "own").c_str(), O_RDWR | O_CREAT, 0600) < 0) return 1;
              if (::write(3, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return 2;
              for (int file = 1000; file < 1024; ++file) close(file);
              write_pairs(*writer, pairs);
              return 0;
            }),
            0);
  EXPECT_EQ(testing::read_file(folder / "own"), text);
  EXPECT_EQ(recording.read()->spans().size(), pairs + 10U);
}

TEST(SegmentSize, AProgramThatClosesAllDescriptorsAndOpensNothingLosesNothing) {
  constexpr int pairs = 100'000;
  const Recording recording;
  EXPECT_EQ(status_of([&] {
              const auto writer = recording.create();
              write_pairs(*writer, 10);
              for (int round = 0; round < 3; ++round) {  // the file is opened again under the same number
                for (int file = 3; file < 1024; ++file) close(file);
                write_pairs(*writer, pairs);
              }
              return writer->header().extents_refused.load() == 0 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(recording.read()->spans().size(), 3 * pairs + 10U);
  EXPECT_EQ(recording.read()->quality().of(Counter::events_dropped), 0U);
}

TEST(SegmentSize, TheNextFileOfTheProgramHasTheNumberThatItHasWithoutARecording) {
  const int before = open("/dev/null", O_RDONLY);
  close(before);
  const Recording recording;
  const auto writer = recording.create();
  const int after = open("/dev/null", O_RDONLY);
  close(after);
  EXPECT_EQ(after, before);
}

}  // namespace
}  // namespace rankscope::recording
