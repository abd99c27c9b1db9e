// Bounds of any stretch against an answer that reads every value.
#include "rankscope/core/lod/value_lod.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

namespace rankscope::lod {
namespace {

TEST(ValueLod, BoundsAreThoseOfReadingEveryValue) {
  std::mt19937 random{3};
  for (const std::size_t count : {1U, 31U, 32U, 33U, 1023U, 1024U, 1025U, 40'000U}) {
    std::vector<double> values(count);
    for (double& value : values) value = static_cast<double>(random() % 1000) - 500;
    const auto value_at = [&values](std::size_t i) { return values[i]; };
    const ValueLod lod{count, value_at};
    for (int i = 0; i < 100; ++i) {
      const std::size_t first = random() % count;
      const std::size_t end = first + 1 + random() % (count - first);
      const auto [least, greatest] = std::minmax_element(values.begin() + static_cast<std::ptrdiff_t>(first),
                                                         values.begin() + static_cast<std::ptrdiff_t>(end));
      EXPECT_EQ(lod.of(first, end, value_at), (Bounds{*least, *greatest})) << count << " [" << first << ", " << end;
    }
  }
}

TEST(ValueLod, WhatIsNotANumberHidesNoOtherValue) {
  std::vector<double> values(2000, 5);
  for (std::size_t i = 0; i < values.size(); i += 32) values[i] = std::numeric_limits<double>::quiet_NaN();
  values[700] = -1;
  values[1900] = 9;
  const auto value_at = [&values](std::size_t i) { return values[i]; };
  EXPECT_EQ((ValueLod{values.size(), value_at}.of(0, values.size(), value_at)), (Bounds{-1, 9}));
}

TEST(ValueLod, AnAnswerReadsFewValues) {
  constexpr std::size_t count = 1'000'000;
  std::size_t reads = 0;
  const auto value_at = [&reads](std::size_t i) {
    ++reads;
    return static_cast<double>(i);
  };
  const ValueLod lod{count, value_at};
  reads = 0;
  EXPECT_EQ(lod.of(17, count - 17, value_at), (Bounds{17, count - 18}));
  EXPECT_LT(reads, 200U);
  EXPECT_LT(lod.byte_count(), count) << "less than a byte for a value";
}

}  // namespace
}  // namespace rankscope::lod
