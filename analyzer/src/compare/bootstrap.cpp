#include "compare/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "math/statistics.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {
namespace {

constexpr double low_share = 0.025;
constexpr double high_share = 0.975;

/// Measures of resampled series: blocks of neighbours, so that what lasts for several steps stays together.
std::vector<std::int64_t> draws_of(std::span<const std::int64_t> series, StepMeasure measure, std::mt19937_64& random) {
  const std::size_t block = block_length(series.size());
  const std::size_t places = series.size() - block + 1;
  std::vector<std::int64_t> drawn(bootstrap_draws);
  std::vector<std::int64_t> draw;
  for (std::int64_t& value : drawn) {
    draw.clear();
    while (draw.size() < series.size()) {
      // No std distribution: each standard library draws differently from the same generator.
      const auto from = static_cast<std::size_t>(random() % places);
      const std::size_t length = std::min(block, series.size() - draw.size());
      const auto chosen = series.subspan(from, length);
      draw.insert(draw.end(), chosen.begin(), chosen.end());
    }
    value = measured(draw, measure);
  }
  return drawn;
}

double change_of(std::int64_t a, std::int64_t b) { return static_cast<double>(b) / static_cast<double>(a) - 1; }

/// In whole nanoseconds.
std::int64_t mean_of(std::span<const std::int64_t> series) {
  return std::accumulate(series.begin(), series.end(), std::int64_t{0}) / static_cast<std::int64_t>(series.size());
}

/// Linear between order statistics (C4), of ascending values.
double quantile_of(std::span<const double> sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(position);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (position - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

double widening(std::size_t count) {
  return static_cast<double>(count) / static_cast<double>(count - block_length(count));
}

}  // namespace

std::size_t block_length(std::size_t count) {
  const auto root = static_cast<std::size_t>(std::llround(std::cbrt(static_cast<double>(count))));
  return std::min(count, std::max<std::size_t>(3, root));
}

std::int64_t measured(std::span<const std::int64_t> series, StepMeasure measure) {
  switch (measure) {
    case StepMeasure::median:
      return median(series);
    case StepMeasure::mean:
      return mean_of(series);
  }
  return 0;
}

MeasureChange change_between(std::span<const std::int64_t> a, std::span<const std::int64_t> b, StepMeasure measure) {
  RS_CHECK(a.size() > block_length(a.size()) && b.size() > block_length(b.size()) && measured(a, measure) > 0);
  std::mt19937_64 random{bootstrap_seed};
  const std::vector<std::int64_t> drawn_a = draws_of(a, measure, random);
  const std::vector<std::int64_t> drawn_b = draws_of(b, measure, random);
  std::vector<double> changes(bootstrap_draws);
  for (std::size_t i = 0; i < bootstrap_draws; ++i)
    changes[i] = change_of(std::max<std::int64_t>(1, drawn_a[i]), drawn_b[i]);
  std::ranges::sort(changes);
  const double change = change_of(measured(a, measure), measured(b, measure));
  const double wider = widening(std::min(a.size(), b.size()));
  const double below = std::max(0.0, change - quantile_of(changes, low_share));
  const double above = std::max(0.0, quantile_of(changes, high_share) - change);
  return {change, change - below * wider, change + above * wider};
}

}  // namespace rankscope::analyzer
