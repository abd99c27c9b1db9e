#include "rankscope/core/model/clock_words.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ClockWords, NameWhatTheClocksWereAlignedByAndTheError) {
  EXPECT_EQ(clock_words({"unit_ends", nanoseconds{31'200}}),
            "clocks aligned by the ends of shared operations, ±31.200 µs");
  EXPECT_EQ(clock_words({"same_host", nanoseconds{0}}), "one clock (same host)");
  EXPECT_EQ(clock_words({"assumed_shared", nanoseconds{0}}), "one shared clock (assumed)");
}

TEST(ClockWords, DoNotCallWallClocksAligned) {
  EXPECT_EQ(clock_words({"wall_clock", nanoseconds{1'000'000}}), "wall clocks, ±1.000 ms");
}

TEST(ClockWords, ShowTheMethodOfAnotherTool) {
  EXPECT_EQ(clock_words({"ptp_hardware", nanoseconds{50}}), "clocks aligned by ptp hardware, ±50 ns");
}

TEST(ClockWords, StateNoErrorWithoutACommonClock) {
  EXPECT_EQ(clock_words({"none", nanoseconds{5}}), "no common clock");
}

}  // namespace
}  // namespace rankscope
