#include "inject/recorder/pace.h"

#include <gtest/gtest.h>

namespace rankscope::collectors {
namespace {

TEST(Pace, RoundsKeepTheirDistance) { EXPECT_EQ(Pace::next_after(1000, 1040, 100), 1100); }

TEST(Pace, WhatTookLongerThanARoundIsNotCaughtUpOn) {
  EXPECT_EQ(Pace::next_after(1000, 1100, 100), 1200);
  EXPECT_EQ(Pace::next_after(1000, 9950, 100), 10'050) << "the thread sleeps a whole round";
}

}  // namespace
}  // namespace rankscope::collectors
