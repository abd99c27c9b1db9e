// Full rings and full disks: counted, never blocking, never fatal.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "recorded.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

TEST(Loss, AFullRingDropsAndCounts) {
  const Folder folder;
  constexpr std::uint64_t pairs = 3'000'000;
  const Recorded recorded =
      record(folder, {.command = {program("nvtx_actor"), "pushes", std::to_string(pairs)}, .ring_kib = 1024});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  const auto& run = *recorded.run;
  // What is stored and what was dropped is what was pushed: two events a pair. A sample of the recorder itself may be
  // among the dropped, but hardly more than a few in such a short run.
  const std::uint64_t stored = spans_named(run, "even") + spans_named(run, "odd");
  constexpr std::uint64_t most_own = 100;
  EXPECT_GE(2 * stored + recorded.summary.events_dropped, 2 * pairs);
  EXPECT_LE(2 * stored + recorded.summary.events_dropped, 2 * pairs + most_own);
  EXPECT_EQ(run.quality().of(Counter::spans_unclosed), 0U) << "push and pop are dropped together";
  EXPECT_EQ(run.quality().of(Counter::pop_without_push), 0U);
  EXPECT_EQ(run.quality().of(Counter::events_dropped), recorded.summary.events_dropped);
}

/// The limit holds for the command and all below it, not for this process.
std::vector<std::string> with_file_limit(std::uint64_t kib, const std::vector<std::string>& command) {
  std::string line = "ulimit -f " + std::to_string(kib) + "; exec";
  for (const std::string& word : command) line += " '" + word + "'";
  return {"/bin/bash", "-c", line};
}

TEST(Loss, AFileThatMayNotGrowIsCountedAndTheProgramLives) {
  const Folder folder;
  const Recorded recorded = record(folder, with_file_limit(3000, {program("nvtx_actor"), "pushes", "1000000"}));
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_GT(recorded.summary.disk_refusals, 0U);
  EXPECT_GT(recorded.summary.events_dropped, 0U);
  EXPECT_GT(recorded.run->spans().size(), 1000U) << "what fitted is there";
}

TEST(Loss, AFullDiskIsCountedAndTheProgramLives) {
  const Folder folder;
  const Folder disk;
  if (mount("rankscope-test", disk.path().c_str(), "tmpfs", 0, "size=3m") != 0)
    GTEST_SKIP() << "mounting a small tmpfs needs root";
  Recorded recorded;
  {
    RecordOptions options{.command = {program("nvtx_actor"), "pushes", "1000000"}};
    options.out = folder / "run.rankscope";
    options.library = RANKSCOPE_TEST_LIBRARY;
    options.talk = Talk::quiet;
    prepare_sanitizer();
    const Variable spool{"RANKSCOPE_SPOOL", disk.path().string()};
    const auto outcome = run_recorded(options);
    ASSERT_TRUE(outcome);
    recorded.status = outcome->status;
    recorded.summary = outcome->summary;
  }
  umount2(disk.path().c_str(), MNT_DETACH);
  EXPECT_EQ(recorded.status, 0);
  EXPECT_GT(recorded.summary.disk_refusals, 0U);
  EXPECT_GT(recorded.summary.events, 1000U);
}

TEST(Loss, AProcessWithoutRoomForASegmentIsCounted) {
  const Folder folder;
  const Recorded recorded = record(folder, with_file_limit(16, {program("nvtx_actor"), "pushes", "1000"}));
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(recorded.summary.not_recorded, 1U);
  EXPECT_THAT(recorded.summary.notes,
              ::testing::Not(::testing::Contains(::testing::HasSubstr("nothing was recorded"))));
}

}  // namespace
}  // namespace rankscope::collectors
