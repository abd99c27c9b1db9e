#include "rankscope/core/digest/part_bytes.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace rankscope::digest {
namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

TEST(PartBytes, ReadBackAsTheyWereWritten) {
  constexpr std::string_view with_zero{"a\0b", 3};
  PartWriter out;
  constexpr std::array<std::uint64_t, 5> numbers{0, 127, 128, 1U << 31U, std::numeric_limits<std::uint64_t>::max()};
  constexpr std::array<std::int64_t, 6> with_sign{0, -1, 1, -64, least, most};
  for (const std::uint64_t number : numbers) out.number(number);
  for (const std::int64_t number : with_sign) out.signed_number(number);
  out.text("");
  out.text(with_zero);
  out.ascending({});
  out.ascending(std::array<std::int64_t, 4>{least, -5, -5, most});
  PartReader in{out.bytes()};
  for (const std::uint64_t number : numbers) EXPECT_EQ(in.number(), number);
  for (const std::int64_t number : with_sign) EXPECT_EQ(in.signed_number(), number);
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.text(), with_zero);
  EXPECT_TRUE(in.ascending().empty());
  EXPECT_EQ(in.ascending(), (std::vector<std::int64_t>{least, -5, -5, most}));
  EXPECT_TRUE(in.end());
}

TEST(PartBytes, SmallNumbersTakeOneByte) {
  PartWriter out;
  out.number(100);
  out.signed_number(-30);
  EXPECT_EQ(out.bytes().size(), 2U);
}

TEST(PartBytes, ACutPartFailsOnceAndThenGivesNothing) {
  PartWriter out;
  out.text("a long string");
  PartReader in{out.bytes().substr(0, 5)};
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.number(), 0U);
  EXPECT_TRUE(in.ascending().empty());
  ASSERT_TRUE(in.failed());
  EXPECT_EQ(in.end().error().message, "it ends too early");
}

TEST(PartBytes, ACountThatNoBytesFollowReservesNothing) {
  PartWriter out;
  out.number(std::numeric_limits<std::uint64_t>::max());
  PartReader in{out.bytes()};
  EXPECT_EQ(in.count(8), 0U);
  EXPECT_TRUE(in.failed());
}

TEST(PartBytes, BytesThatNobodyReadAreAnError) {
  PartWriter out;
  out.number(1);
  out.number(2);
  PartReader in{out.bytes()};
  EXPECT_EQ(in.number(), 1U);
  ASSERT_FALSE(in.end());
  EXPECT_EQ(in.end().error().message, "it is 1 byte too long");
}

TEST(PartBytes, NumbersOfMoreThan64BitsAreAnError) {
  PartReader in{"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"};
  EXPECT_EQ(in.number(), 0U);
  EXPECT_TRUE(in.failed());
  PartWriter out;
  out.number(2);
  out.signed_number(most);
  out.number(1);  // one more than the largest
  PartReader ascending{out.bytes()};
  EXPECT_TRUE(ascending.ascending().empty());
  EXPECT_TRUE(ascending.failed());
}

TEST(PartBytes, NumbersOutsideOfTheirLimitsAreAnError) {
  PartWriter out;
  out.number(4);
  out.signed_number(-1);
  PartReader in{out.bytes()};
  EXPECT_EQ(in.number_to(3), 0U);
  EXPECT_EQ(in.end().error().message, "4 must be at most 3");
  PartReader again{out.bytes()};
  EXPECT_EQ(again.number_to(4), 4U);
  EXPECT_EQ(again.signed_between(0, 5), 0);
  EXPECT_EQ(again.end().error().message, "-1 must be from 0 to 5");
}

}  // namespace
}  // namespace rankscope::digest
