#include "math/assignment.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

namespace rankscope::analyzer {
namespace {

using ::testing::ElementsAre;

double sum_of(std::span<const double> costs, std::span<const std::size_t> columns) {
  double sum = 0;
  for (std::size_t row = 0; row < columns.size(); ++row) sum += costs[row * columns.size() + columns[row]];
  return sum;
}

/// By trying all orders.
double cheapest_sum(std::span<const double> costs, std::size_t size) {
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  double least = impossible;
  do least = std::min(least, sum_of(costs, order));
  while (std::ranges::next_permutation(order).found);
  return least;
}

TEST(CheapestAssignment, LeavesTheCheapColumnToTheRowThatNeedsItMost) {
  constexpr std::array<double, 4> costs{1, 2, 1, 9};
  const auto columns = cheapest_assignment(costs, 2);
  ASSERT_TRUE(columns);
  EXPECT_THAT(*columns, ElementsAre(1U, 0U));
}

TEST(CheapestAssignment, HasTheSumThatTryingAllOrdersFinds) {
  std::mt19937_64 dice{1};
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> costs(36);
    for (double& cost : costs) cost = dice() % 4 == 0 ? impossible : static_cast<double>(dice() % 20);
    const auto columns = cheapest_assignment(costs, 6);
    const double least = cheapest_sum(costs, 6);
    ASSERT_EQ(columns.has_value(), least < impossible) << trial;
    if (columns) {
      EXPECT_EQ(sum_of(costs, *columns), least) << trial;
    }
  }
}

TEST(CheapestAssignment, IsNoneIfTwoRowsHaveOnlyOneColumn) {
  constexpr std::array<double, 4> costs{1, impossible, 2, impossible};
  EXPECT_FALSE(cheapest_assignment(costs, 2));
}

TEST(CheapestAssignment, OfNothingIsEmpty) {
  const auto columns = cheapest_assignment({}, 0);
  ASSERT_TRUE(columns);
  EXPECT_TRUE(columns->empty());
}

}  // namespace
}  // namespace rankscope::analyzer
