#include "math/theil_sen.h"

#include <gtest/gtest.h>

#include <vector>

#include "memory/curve.h"

namespace rankscope::analyzer {
namespace {

std::vector<TrendPoint> series(std::initializer_list<std::int64_t> values) {
  std::vector<TrendPoint> points;
  for (const std::int64_t value : values) points.push_back({static_cast<double>(points.size()), value});
  return points;
}

TEST(TheilSen, ItsSlopeIsTheMedianOfAllPairsSoThatOneOutlierDoesNotBendIt) {
  EXPECT_DOUBLE_EQ(theil_sen_slope(series({1, 3, 5, 7, 100})), 2);
  EXPECT_DOUBLE_EQ(theil_sen_slope(series({0, 2, 4, 100})), (2 + 100.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(theil_sen_slope(series({5})), 0);
}

TEST(TheilSen, ItsSlopeIsPerPlaceWherePlacesAreMissing) {
  const std::vector<TrendPoint> points{
      {.place = 0, .value = 0}, {.place = 10, .value = 20}, {.place = 15, .value = 30}};
  EXPECT_DOUBLE_EQ(theil_sen_slope(points), 2);
}

TEST(TheilSen, MannAndKendallAgreeWithTheirFormula) {
  // S = 45, variance = 125, z = 44 / sqrt(125).
  EXPECT_NEAR(mann_kendall_p(series({1, 2, 3, 4, 5, 6, 7, 8, 9, 10})), 8.303e-5, 1e-8);
  // S = 24; two and three equal values: variance = (1176 - 18 - 66) / 18, z = 23 / 7.789.
  EXPECT_NEAR(mann_kendall_p(series({1, 2, 2, 3, 4, 4, 4, 5})), 0.003148, 1e-6);
  EXPECT_NEAR(mann_kendall_p(series({5, 4, 4, 4, 3, 2, 2, 1})), 0.003148, 1e-6) << "both ways alike";
}

TEST(TheilSen, NothingIsProvenByEqualValues) {
  EXPECT_EQ(mann_kendall_p(series({7, 7, 7, 7, 7})), 1);
  EXPECT_EQ(mann_kendall_p(series({})), 1);
}

std::vector<StepPeak> peaks(std::int64_t steps, auto bytes_of) {
  std::vector<StepPeak> all;
  for (std::int64_t step = 0; step < steps; ++step) all.push_back({step, bytes_of(step)});
  return all;
}

TEST(Growth, TellsTheStepsUntilTheDeviceIsFull) {
  const MemoryGrowth growth = growth_of(peaks(30, [](std::int64_t step) { return 1'000 + 10 * step; }), 500, "unused");
  EXPECT_EQ(growth.bytes_per_step, 10);
  EXPECT_TRUE(growth.proven);
  EXPECT_TRUE(growth.lasts);
  EXPECT_EQ(growth.grown_bytes, 290);
  EXPECT_EQ(growth.steps_to_limit, 50);
}

TEST(Growth, ThatLevelsOffDoesNotLast) {
  const MemoryGrowth growth = growth_of(
      peaks(40, [](std::int64_t step) { return 1'000 + 10 * std::min<std::int64_t>(step, 15); }), 500, "unused");
  EXPECT_TRUE(growth.proven);
  EXPECT_FALSE(growth.lasts);
}

TEST(Growth, NeedsTwentySteps) {
  const MemoryGrowth growth = growth_of(peaks(19, [](std::int64_t step) { return step; }), 500, "unused");
  EXPECT_FALSE(growth.bytes_per_step);
  EXPECT_EQ(growth.why, "a trend needs at least 20 steps after the warm-up (found: 19)");
}

TEST(Growth, OfManyStepsIsThatOfTheirHighest) {
  const MemoryGrowth growth =
      growth_of(peaks(5'000, [](std::int64_t step) { return 3 * step + (step % 5 == 0 ? 20 : 0); }), {}, "no total");
  EXPECT_NEAR(*growth.bytes_per_step, 3, 0.01);
  EXPECT_FALSE(growth.steps_to_limit);
  EXPECT_EQ(growth.why_no_limit, "no total");
}

}  // namespace
}  // namespace rankscope::analyzer
