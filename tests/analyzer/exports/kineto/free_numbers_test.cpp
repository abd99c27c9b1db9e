#include "exports/kineto/free_numbers.h"

#include <gtest/gtest.h>

#include <set>

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

TEST(FreeNumbers, TheWantedOneOrTheNextAboveIsGiven) {
  FreeNumbers numbers;
  EXPECT_EQ(numbers.take(5), 5);
  EXPECT_EQ(numbers.take(5), 6);
  EXPECT_EQ(numbers.take(8), 8);
  EXPECT_EQ(numbers.take(5), 7);
  EXPECT_EQ(numbers.take(5), 9);
  EXPECT_EQ(numbers.take(-1), -1);
}

TEST(FreeNumbers, AboveTheLargestItGoesOnFromZero) {
  FreeNumbers numbers;
  EXPECT_EQ(numbers.take(largest), largest);
  EXPECT_EQ(numbers.take(largest), 0);
  EXPECT_EQ(numbers.take(largest), 1);
  EXPECT_EQ(numbers.take(largest - 1), largest - 1);
  EXPECT_EQ(numbers.take(smallest), smallest);
  EXPECT_EQ(numbers.take(smallest), smallest + 1);
}

TEST(FreeNumbers, ManyThatWantOnePlaceAreNotSearchedAgainAndAgain) {
  constexpr std::int64_t many = 300'000;  // one by one these would be 10^11 steps
  FreeNumbers numbers;
  for (std::int64_t i = 0; i < many; ++i) ASSERT_EQ(numbers.take(0), i);
  for (std::int64_t i = 0; i < many; ++i) ASSERT_EQ(numbers.take(i), many + i);
}

TEST(FreeNumbers, AreThoseThatASearchOneByOneFinds) {
  FreeNumbers numbers;
  std::set<std::int64_t> taken;
  std::uint32_t state = 7;
  for (int round = 0; round < 3000; ++round) {
    state = state * 1664525U + 1013904223U;
    std::int64_t expected = (state >> 16U) % 1000;
    const std::int64_t wanted = expected;
    while (!taken.insert(expected).second) ++expected;
    ASSERT_EQ(numbers.take(wanted), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace rankscope::analyzer
