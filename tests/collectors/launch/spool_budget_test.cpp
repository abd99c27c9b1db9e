// The folder in which segments are kept until the end holds hardly more than the recording will.
#include <gmock/gmock.h>

#include "spool_peak.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

TEST(SpoolBudget, OfManyShortProcessesTheRecordingKeepsWhatTheyWroteAndNoMore) {
  constexpr std::uint64_t processes = 300;
  const Folder folder;
  const Recorded recorded = record(folder, {program("short_lives"), "processes", std::to_string(processes)});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "short life"), processes + 1);
  EXPECT_EQ(recorded.summary.events_dropped, 0U);
  EXPECT_LE(recorded.summary.bytes, processes * 8 * 1024);
}

TEST(SpoolBudget, ProcessesWithARankThatTellNothingAreSmall) {
  const Folder folder;
  const Variable rank{"RANK", "0"};
  const Variable world{"WORLD_SIZE", "1"};
  const SpoolPeak peak{folder.path()};
  const Recorded recorded =
      record(folder, {.command = {"/bin/sh", "-c", "for i in 1 2 3 4 5; do sleep 0.4; done"}, .sample_hz = 50});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(recorded.summary.processes, 6U);
  EXPECT_LE(peak.bytes(), spool_bound(recorded, 2));
}

TEST(SpoolBudget, ShortThreadsShareChunks) {
  const Folder folder;
  const SpoolPeak peak{folder.path()};
  const Recorded recorded = record(folder, {program("short_lives"), "threads", "2000"});
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "short life"), 2000U);
  EXPECT_EQ(recorded.summary.events_dropped, 0U);
  EXPECT_LE(peak.bytes(), spool_bound(recorded, 1));
}

}  // namespace
}  // namespace rankscope::collectors
