#include "rankscope/trainer/plan/device_use.h"

#include <gtest/gtest.h>

#include <vector>

namespace rankscope::trainer {
namespace {

TEST(DeviceUse, IsTheRangeOverAllDevices) {
  const std::vector<DeviceTime> devices{{0, 0, 1.5}, {0, 1, 0.25}, {1, 0, 2}};
  EXPECT_EQ(use_text(devices), "all 3 devices computed, each for 0.25 to 2.00 s of CPU time");
  EXPECT_EQ(unused_text(devices), "");
  EXPECT_EQ(use_text(std::vector<DeviceTime>{{0, 0, 0.051}, {1, 0, 0.052}}),
            "all 2 devices computed, each for 0.05 s of CPU time");
}

TEST(DeviceUse, OnesThatDidNothingAreNamed) {
  const std::vector<DeviceTime> devices{{0, 0, 2}, {0, 1, 0.019}, {1, 0, 2}, {1, 1, 0.021},
                                        {2, 0, 2}, {2, 1, 2},     {3, 0, 0}};
  EXPECT_TRUE(unused_text(devices).starts_with("device 1 of rank 0, device 0 of rank 3 had nothing to compute"))
      << unused_text(devices);
}

TEST(DeviceUse, TheMedianOfAnEvenCountIsBetweenTheTwoInTheMiddle) {
  const std::vector<DeviceTime> devices{{0, 0, 3}, {0, 1, 1}, {1, 0, 4}, {1, 1, 0}};
  EXPECT_TRUE(unused_text(devices).starts_with(
      "device 1 of rank 1 had nothing to compute (the median of all devices is 2.00 s of CPU time)"))
      << unused_text(devices);
}

TEST(DeviceUse, NothingIsSaidWhereNobodyComputed) {
  EXPECT_EQ(unused_text(std::vector<DeviceTime>{{0, 0, 0}, {1, 0, 0}}), "");
}

}  // namespace
}  // namespace rankscope::trainer
