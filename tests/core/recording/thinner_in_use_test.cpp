// A segment is thinned out while its process writes to it, while others read it, and until its recorder is killed.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/format.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/recording/thinner.h"
#include "recording/format/segment_file.h"
#include "support/temporary_folder.h"
#include "thinned_rank.h"

namespace rankscope::recording {
namespace {

using testing::TemporaryFolder;
using namespace thinning;

TEST(ThinnerInUse, ARunThatNobodyEmptiedIsNotWrittenToAgain) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(200);
  SegmentHeader& header = rank.writer->header();
  header.runs[0].store(packed_run({64 * 1024, 64 * 1024}));          // there are sealed chunks
  header.runs[1].store(packed_run({0, 4096}));                       // the header page
  header.runs[2].store(packed_run({std::uint64_t{1} << 40, 4096}));  // behind the end of the file
  header.runs[3].store(packed_run({4096, 1ULL << 35}));              // more than all of it
  header.handed_back.store(4);
  for (int i = 0; i < 4; ++i) rank.writer->refill();
  EXPECT_EQ(header.taken_back.load(), 4U);
  rank.steps(100);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps seen = steps_of(**run, RankId{0});
  expect_all_steps(seen, 300);
  EXPECT_EQ(seen.operations, 300U * 200U);
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(ThinnerInUse, AFullRingOfRunsIsEmptiedLittleByLittle) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(2000);
  const std::uint64_t size = fs::file_size(rank.path);
  ASSERT_GT(size, 8U << 20);
  rank.give_up(now());
  const SegmentHeader& header = rank.writer->header();
  ASSERT_GT(header.handed_back.load(), 4U);
  EXPECT_LT(header.taken_back.load(), header.handed_back.load()) << "one call takes little";
  rank.steps(2000);
  rank.give_up(now());
  EXPECT_LT(fs::file_size(rank.path), size + size / 2) << "nearly all of it was written to again";
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  expect_all_steps(steps_of(**run, RankId{0}), 4000);
  EXPECT_EQ(data_loss_in(**run), 0U);
}

TEST(ThinnerInUse, AReportOnARunningJobFindsNothingMissing) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  rank.steps(200);
  std::atomic<bool> has_ended{false};
  std::jthread job{[&] {
    for (int round = 0; round < 20; ++round) {
      rank.steps(100);
      rank.give_up(now());
    }
    has_ended = true;
  }};
  int readings = 0;
  for (; !has_ended; ++readings) {
    const auto run = read_recording(spool.path());
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(data_loss_in(**run), 0U) << "reading " << readings;
    const SeenSteps seen = steps_of(**run, RankId{0});
    expect_all_steps(seen, std::ssize(seen.indices));
    EXPECT_GE(seen.indices.size(), 100U);
  }
  EXPECT_GT(readings, 0);
}

/// What a recorder does, again and again, until it is killed.
[[noreturn]] void thin_out(const fs::path& segment) {
  Thinner thinner{segment, at_once};
  while (true) {
    thinner.follow(1U << 30);
    static_cast<void>(thinner.give_up(now(), Thinner::Steps::whole));
  }
}

TEST(ThinnerInUse, ARecorderThatIsKilledAtAnyInstantLosesNothing) {
  std::uint64_t thinned = 0;
  for (int attempt = 0; attempt < 12; ++attempt) {
    const TemporaryFolder spool;
    Rank rank{spool.path()};
    rank.thinner.reset();
    const pid_t recorder = fork();
    ASSERT_GE(recorder, 0);
    if (recorder == 0) thin_out(rank.path);
    const auto has_begun = [&rank] { return rank.writer->header().handed_back.load() > 0; };
    constexpr std::int64_t most_steps = 20'000;  // the recorder may not be scheduled for long
    while (attempt % 2 == 1 && !has_begun() && rank.next < most_steps) {
      rank.step();
      std::this_thread::yield();
    }
    const HostTime end = now() + std::chrono::milliseconds{20 + 7 * attempt};
    while (now() < end) rank.step();
    kill(recorder, SIGKILL);
    ASSERT_EQ(waitpid(recorder, nullptr, 0), recorder);
    for (int i = 0; i < 100; ++i) rank.step();
    const auto run = read_recording(spool.path());
    ASSERT_TRUE(run) << run.error().message;
    const SeenSteps seen = steps_of(**run, RankId{0});
    expect_all_steps(seen, rank.next);
    EXPECT_EQ(seen.operations, 200 * (static_cast<std::size_t>(rank.next) - seen.thinned)) << "attempt " << attempt;
    EXPECT_EQ(data_loss_in(**run), 0U) << "attempt " << attempt;
    thinned += seen.thinned;
  }
  EXPECT_GT(thinned, 0U);
}

TEST(ThinnerInUse, KernelsOfFullStepsAreThereAndThoseOfOthersAreInTheirSums) {
  const TemporaryFolder spool;
  Rank rank{spool.path()};
  const auto device = rank.writer->thread();
  device->device("GPU X", 0, "uuid-1");
  constexpr std::size_t count = 400;
  constexpr std::size_t kernels = 100;
  for (std::size_t step = 0; step < count; ++step) {
    rank.pen->push(SpanKind::step, "train");
    rank.pen->attribute("index", static_cast<std::int64_t>(step));
    for (std::size_t i = 0; i < kernels; ++i) {
      const std::int64_t begin = wall_now();
      device->activity(SpanKind::compute, "gemm",
                       {.begin = begin, .end = begin + 1, .device = 0, .context = 0, .stream = 7, .correlation = 0});
    }
    rank.pen->pop();
    rank.writer->refill();
    if (step % 10 == 9) rank.thinner->follow(1U << 30);
  }
  rank.thinner->follow(1U << 30);
  EXPECT_GT(rank.give_up(now()).events, 0U);
  const auto run = read_recording(spool.path());
  ASSERT_TRUE(run) << run.error().message;
  const SeenSteps seen = steps_of(**run, RankId{0});
  expect_all_steps(seen, std::int64_t{count});
  ASSERT_GT(seen.thinned, 0U);
  const auto left = static_cast<std::size_t>(
      std::ranges::count((*run)->spans(), SpanKind::compute, [](const Span& span) { return span.kind; }));
  EXPECT_NEAR(static_cast<double>(left), static_cast<double>(kernels * (count - seen.thinned)), 2.0 * kernels)
      << "two clocks, so that one step more or less may count";
  EXPECT_EQ(data_loss_in(**run), 0U);
}

}  // namespace
}  // namespace rankscope::recording
