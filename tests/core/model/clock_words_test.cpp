#include "rankscope/core/model/clock_words.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(ClockWords, NameTheMethodAndTheError) {
  EXPECT_EQ(clock_words({"unit_ends", nanoseconds{31'200}}),
            "clocks: aligned by the ends of shared operations, ±31.200 µs");
  EXPECT_EQ(clock_words({"wall_clock", nanoseconds{1'000'000}}), "clocks: wall clocks, ±1.000 ms");
  EXPECT_EQ(clock_words({"assumed_shared", nanoseconds{50}}), "clocks: assumed to be shared, ±50 ns");
}

TEST(ClockWords, LeaveOutAnErrorThatIsNotKnown) {
  EXPECT_EQ(clock_words({"same_host", nanoseconds{0}}), "clocks: same host");
}

TEST(ClockWords, ShowTheMethodOfAnotherTool) {
  EXPECT_EQ(clock_words({"ptp_hardware", nanoseconds{50}}), "clocks: ptp hardware, ±50 ns");
}

TEST(ClockWords, StateNoErrorWithoutACommonClock) {
  EXPECT_EQ(clock_words({"none", nanoseconds{5}}), "clocks: not synchronized");
}

}  // namespace
}  // namespace rankscope
