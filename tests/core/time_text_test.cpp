// Times as text.
#include "rankscope/core/time_text.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(TimeText, ReadsEveryUnitAndTakesABareNumberForSeconds) {
  EXPECT_EQ(duration_from("1.5s"), nanoseconds{1'500'000'000});
  EXPECT_EQ(duration_from("200ms"), nanoseconds{200'000'000});
  EXPECT_EQ(duration_from("40us"), nanoseconds{40'000});
  EXPECT_EQ(duration_from("40µs"), nanoseconds{40'000});
  EXPECT_EQ(duration_from("17ns"), nanoseconds{17});
  EXPECT_EQ(duration_from("2"), nanoseconds{2'000'000'000});
}

TEST(TimeText, RefusesWhatIsNoTimeAndSaysWhatIsWanted) {
  for (const char* const text : {"", "x", "1m", "-1s", "1 s", "nan", "1e30s", "s"}) {
    const auto read = duration_from(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::usage);
    EXPECT_NE(read.error().message.find("200ms"), std::string::npos);
  }
}

TEST(TimeText, WritesTheLargestUnitThatFits) {
  EXPECT_EQ(duration_text(nanoseconds{17}), "17 ns");
  EXPECT_EQ(duration_text(nanoseconds{1'500}), "1.500 µs");
  EXPECT_EQ(duration_text(nanoseconds{-2'000'000}), "-2.000 ms");
  EXPECT_EQ(duration_text(nanoseconds{90'000'000'000}), "90.000 s");
}

TEST(TimeText, LabelsOfAnAxisTellTheirDistanceApart) {
  EXPECT_EQ(axis_text(nanoseconds{1'250'000'000}, nanoseconds{10'000'000}, nanoseconds{2'000'000'000}), "1.25 s");
  EXPECT_EQ(axis_text(nanoseconds{0}, nanoseconds{1'000'000'000}, nanoseconds{2'000'000'000}), "0 s");
  EXPECT_EQ(axis_text(nanoseconds{1'000'001}, nanoseconds{1}, nanoseconds{1'000'001}), "1.000001 ms");
}

}  // namespace
}  // namespace rankscope
