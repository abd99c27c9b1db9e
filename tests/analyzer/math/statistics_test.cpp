#include "math/statistics.h"

#include <gtest/gtest.h>

#include "math/interval_set.h"

namespace rankscope::analyzer {
namespace {

using Values = std::vector<std::int64_t>;

TEST(Statistics, TheMedianOfAnEvenCountIsInTheMiddle) {
  EXPECT_EQ(median(Values{4, 1, 3}), 3);
  EXPECT_EQ(median(Values{1, 2, 5, 9}), 3);
  EXPECT_EQ(median(Values{}), 0);
}

TEST(Statistics, QuantilesAreLinear) {
  EXPECT_EQ(quantile(Values{0, 10, 20, 30}, 0.9), 27);
  EXPECT_EQ(quantile(Values{5}, 0.9), 5);
}

TEST(Statistics, TheDeviationIsThatFromTheMedian) { EXPECT_EQ(median_deviation(Values{1, 2, 4, 8, 100}), 3); }

TEST(Statistics, TheBinomialTail) {
  EXPECT_DOUBLE_EQ(binomial_tail(0, 10, 0.25), 1);
  EXPECT_NEAR(binomial_tail(10, 10, 0.5), 1.0 / 1024, 1e-9);
  EXPECT_NEAR(binomial_tail(9, 10, 0.5), 11.0 / 1024, 1e-9);
}

TEST(Statistics, ThresholdsBetweenColumnsAreLinearInTheLogarithm) {
  EXPECT_DOUBLE_EQ(straggler_threshold(4), 5.1);
  EXPECT_DOUBLE_EQ(straggler_threshold(7), 4.8);
  EXPECT_DOUBLE_EQ(straggler_threshold(64), 3.5);
  EXPECT_NEAR(straggler_threshold(2048), 4.05, 1e-9);
  EXPECT_DOUBLE_EQ(straggler_threshold(100'000), 4.5);
}

TEST(IntervalSets, AreUnions) {
  const IntervalSet set =
      IntervalSet::from({{at(50), at(60)}, {at(0), at(10)}, {at(10), at(20)}, {at(5), at(7)}, {at(30), at(30)}});
  ASSERT_EQ(set.intervals().size(), 2U);
  EXPECT_EQ(set.intervals()[0], (TimeRange{at(0), at(20)}));
  EXPECT_EQ(set.length_ns(), 30);
}

TEST(IntervalSets, ASweepVisitsEachStretchOnce) {
  const std::vector<IntervalSet> sets{IntervalSet::from({{at(0), at(10)}}), IntervalSet::from({{at(5), at(20)}})};
  std::vector<std::pair<std::int64_t, std::uint32_t>> seen;
  Sweep(sets).over({at(-5), at(30)}, [&](std::int64_t ns, std::uint32_t bits) { seen.emplace_back(ns, bits); });
  EXPECT_EQ(seen, (std::vector<std::pair<std::int64_t, std::uint32_t>>{{5, 0}, {5, 1}, {5, 3}, {10, 2}, {10, 0}}));
}

// Values of a printed table of Student's t.
TEST(Statistics, StudentTailsAreThoseOfTheTable) {
  EXPECT_NEAR(student_tail(0, 3), 0.5, 1e-12);
  EXPECT_NEAR(student_tail(63.657, 1), 0.005, 1e-6);
  EXPECT_NEAR(student_tail(9.925, 2), 0.005, 1e-6);
  EXPECT_NEAR(student_tail(5.841, 3), 0.005, 1e-6);
  EXPECT_NEAR(student_tail(3.355, 8), 0.005, 1e-5);
  EXPECT_NEAR(student_tail(2.750, 30), 0.005, 1e-5);
  EXPECT_DOUBLE_EQ(student_tail(5, 0), 0.5) << "without a measure of the scatter nothing is unlikely";
}

}  // namespace
}  // namespace rankscope::analyzer
