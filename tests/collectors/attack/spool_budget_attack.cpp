// Programs that would fill the disk: ten thousand short processes, ten thousand short threads.
#include <gmock/gmock.h>

#include "spool_peak.h"

namespace rankscope::collectors {
namespace {

using namespace testing;

constexpr std::uint64_t many = 10'000;

TEST(SpoolAttack, TenThousandShortProcessesStayWithinTheBound) {
  const Folder folder;
  const SpoolPeak peak{folder.path()};
  const Recorded recorded = record(folder, {program("short_lives"), "processes", std::to_string(many)});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "short life"), many + 1);
  EXPECT_LE(peak.bytes(), spool_bound(recorded, 2));
  RecordProperty("peak_bytes", std::to_string(peak.bytes()));
  RecordProperty("kept_bytes", std::to_string(recorded.summary.bytes));
}

TEST(SpoolAttack, TenThousandShortThreadsStayWithinTheBound) {
  const Folder folder;
  const SpoolPeak peak{folder.path()};
  const Recorded recorded = record(folder, {program("short_lives"), "threads", std::to_string(many)});
  EXPECT_EQ(recorded.status, 0);
  ASSERT_TRUE(recorded.run) << recorded.why;
  EXPECT_EQ(spans_named(*recorded.run, "short life"), many);
  EXPECT_EQ(recorded.summary.events_dropped, 0U);
  EXPECT_LE(peak.bytes(), spool_bound(recorded, 1));
  RecordProperty("peak_bytes", std::to_string(peak.bytes()));
  RecordProperty("kept_bytes", std::to_string(recorded.summary.bytes));
}

}  // namespace
}  // namespace rankscope::collectors
