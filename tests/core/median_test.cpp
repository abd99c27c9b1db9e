#include "rankscope/core/median.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

namespace rankscope {
namespace {

using Values = std::vector<std::int64_t>;

TEST(Median, OfAnEvenCountIsTheLowerMiddlePlusHalfOfTheDifference) {
  EXPECT_EQ(median(Values{40, 10, 20, 30}), 25);
  EXPECT_EQ(median(Values{3, 0}), 1);    // rounded down
  EXPECT_EQ(median(Values{-3, 0}), -2);  // upwards from the lower one, in whole numbers
  EXPECT_EQ(median(Values{30, 10, 20}), 20);
  EXPECT_EQ(median(Values{}), 0);
}

TEST(Median, OfLargeNumbersDoesNotGoRound) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(median(Values{most, most - 2}), most - 1);
}

TEST(Median, OfSortedValuesIsTheSame) {
  EXPECT_EQ(sorted_median(Values{10, 20, 30, 40}), 25);
  EXPECT_EQ(sorted_median(Values{10, 20, 30}), 20);
  EXPECT_EQ(sorted_median(Values{}), 0);
}

TEST(Median, OfOtherNumbersIsTheMeanOfTheTwoInTheMiddle) {
  EXPECT_DOUBLE_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector<double>{3, 1, 2}), 2);
}

TEST(Median, RowOfAnEvenCountIsTheLowerOneInTheMiddle) {
  EXPECT_EQ(median_row(Values{40, 10, 20, 30}), 2U);
  EXPECT_EQ(median_row(Values{30, 10, 20}), 2U);
  EXPECT_EQ(median_row(Values{7}), 0U);
}

TEST(Median, RowOfEqualValuesIsByTheirOrder) {
  EXPECT_EQ(median_row(Values{5, 5, 5, 5}), 1U);
  EXPECT_EQ(median_row(Values{9, 5, 5, 1}), 1U);
}

}  // namespace
}  // namespace rankscope
