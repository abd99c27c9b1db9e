#include "compare/bootstrap.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace rankscope::analyzer {
namespace {

std::vector<std::int64_t> noisy(std::size_t count, double sigma, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  std::normal_distribution<double> normal(1, sigma);
  std::vector<std::int64_t> series(count);
  for (std::int64_t& value : series) value = static_cast<std::int64_t>(1e8 * std::max(0.1, normal(random)));
  return series;
}

MeasureChange change_of_medians(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return change_between(a, b, StepMeasure::median);
}

TEST(Bootstrap, BlocksGrowWithTheCubeRootButAreAtLeastThree) {
  EXPECT_EQ(block_length(2), 2U);
  EXPECT_EQ(block_length(10), 3U);
  EXPECT_EQ(block_length(64), 4U);
  EXPECT_EQ(block_length(1000), 10U);
}

TEST(Bootstrap, ASeriesAgainstItselfHasNoChangeAndZeroInsideItsInterval) {
  const auto series = noisy(20, 0.05, 1);
  const MeasureChange found = change_of_medians(series, series);
  EXPECT_EQ(found.change, 0);
  EXPECT_LT(found.low, 0);
  EXPECT_GT(found.high, 0);
}

TEST(Bootstrap, SeriesWithoutNoiseHaveAnIntervalOfOnePoint) {
  const std::vector<std::int64_t> a(12, 1000);
  const std::vector<std::int64_t> b(30, 1200);
  EXPECT_EQ(change_of_medians(a, b), (MeasureChange{1.2 - 1, 1.2 - 1, 1.2 - 1}));
}

TEST(Bootstrap, TheSameInputGivesTheSameInterval) {
  const auto a = noisy(50, 0.02, 2);
  const auto b = noisy(40, 0.02, 3);
  EXPECT_EQ(change_of_medians(a, b), change_of_medians(a, b));
}

TEST(Bootstrap, ARealChangeIsInsideItsInterval) {
  const auto a = noisy(40, 0.02, 4);
  auto b = noisy(40, 0.02, 5);
  for (std::int64_t& value : b) value += value / 20;
  const MeasureChange found = change_of_medians(a, b);
  EXPECT_GT(found.low, 0);
  EXPECT_LT(found.low, 0.05);
  EXPECT_GT(found.high, 0.05);
}

/// Steps of slow and fast phases look more alike than they are: whole phases must be drawn together.
TEST(Bootstrap, PhasesMakeTheIntervalWider) {
  std::vector<std::int64_t> phases;
  for (int step = 0; step < 64; ++step) phases.push_back(step / 8 % 2 == 0 ? 1000 + step : 1100 + step);
  std::vector<std::int64_t> mixed;
  for (int step = 0; step < 64; ++step) mixed.push_back(phases[static_cast<std::size_t>(step * 37 % 64)]);
  const MeasureChange of_phases = change_of_medians(phases, phases);
  const MeasureChange of_mixed = change_of_medians(mixed, mixed);
  EXPECT_GT(of_phases.high - of_phases.low, of_mixed.high - of_mixed.low);
}

/// metrics.md 17.1: "changed" is said of fewer than 5 % of pairs of equal runs, also of short and loud ones.
TEST(Bootstrap, NoiseIsCalledAChangeInFewerThanFiveOfAHundredPairs) {
  constexpr int pairs = 200;
  for (const std::size_t steps : {10U, 20U, 60U}) {
    for (const double sigma : {0.01, 0.05}) {
      int alarms = 0;
      for (int pair = 0; pair < pairs; ++pair) {
        const auto seed = 2 * static_cast<std::uint64_t>(pair);
        const MeasureChange found =
            change_of_medians(noisy(steps, sigma, seed + 1'000), noisy(steps, sigma, seed + 1'001));
        if ((found.low > 0 || found.high < 0) && std::abs(found.change) >= 0.01) ++alarms;
      }
      EXPECT_LT(alarms, pairs / 20) << steps << " steps, sigma " << sigma;
    }
  }
}

/// Every fourth step takes 3.64 times as long.
std::vector<std::int64_t> stalling(std::size_t steps, std::size_t first) {
  auto series = noisy(steps, 0.01, 7);
  for (std::size_t step = first; step < steps; step += 4) series[step] = series[step] * 364 / 100;
  return series;
}

TEST(Bootstrap, AStallInEachFourthStepIsFoundByTheMeanAndNotByTheMedian) {
  for (const std::size_t steps : {12U, 20U, 40U})
    for (const std::size_t first : {0U, 1U, 2U, 3U}) {
      const auto a = noisy(steps, 0.01, 8);
      const auto b = stalling(steps, first);
      EXPECT_GT(change_between(a, b, StepMeasure::mean).low, 0) << steps << " steps, from " << first;
      EXPECT_LT(std::abs(change_of_medians(a, b).change), 0.03) << steps << " steps, from " << first;
    }
}

/// One step in twenty is much longer by chance, as on a shared machine.
TEST(Bootstrap, LongStepsOfEqualRunsSeldomChangeTheMean) {
  constexpr int pairs = 200;
  for (const std::size_t steps : {12U, 20U, 40U}) {
    int alarms = 0;
    for (int pair = 0; pair < pairs; ++pair) {
      std::mt19937_64 random{static_cast<std::uint64_t>(pair) + 5'000};
      const auto series = [&](std::uint64_t seed) {
        auto values = noisy(steps, 0.01, seed);
        for (std::int64_t& value : values)
          if (random() % 20 == 0) value += value / 2 + static_cast<std::int64_t>(random() % 100'000'000);
        return values;
      };
      const auto seed = 2 * static_cast<std::uint64_t>(pair);
      const MeasureChange mean = change_between(series(seed), series(seed + 1), StepMeasure::mean);
      if (mean.low > 0 && mean.change > 0.03) ++alarms;
    }
    EXPECT_LT(alarms, pairs / 20) << steps << " steps";
  }
}

}  // namespace
}  // namespace rankscope::analyzer
