// Texts that several panels share.
#include <gtest/gtest.h>

#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

TEST(Words, ACounterHasTheUnitInWhichItsNameEnds) {
  EXPECT_EQ(counter_text("GPU 0 memory_used_bytes", 1'048'576), QStringLiteral("1.05 MB"));
  EXPECT_TRUE(counter_text("nvlink_sent_bytes_per_second", 2e9).endsWith(QStringLiteral("GB/s")));
  EXPECT_EQ(counter_text("cpu_percent", 93.04), QStringLiteral("93.0 %"));
  EXPECT_EQ(counter_text("GPU 0 power_watts", 250), QStringLiteral("250.0 W"));
  EXPECT_EQ(counter_text("queue_depth", 3), QStringLiteral("3"));
}

TEST(Words, NumbersInNamesAreOrderedByTheirValue) {
  EXPECT_TRUE(comes_before("stream 2", "stream 10"));
  EXPECT_FALSE(comes_before("stream 10", "stream 2"));
  EXPECT_TRUE(comes_before("stream 7", "stream 7 copy"));
  EXPECT_TRUE(comes_before("loader 9", "main"));
  EXPECT_FALSE(comes_before("stream 7", "stream 7"));
}

}  // namespace
}  // namespace rankscope::gui
