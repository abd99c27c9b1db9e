#include "math/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace rankscope::analyzer {
namespace {

constexpr double sigma_of_mad = 1.4826;

// metrics.md 9.2; between two columns linear in ln n.
constexpr std::array<std::pair<double, double>, 18> threshold_table{{{4, 5.1},
                                                                     {5, 6.1},
                                                                     {6, 4.6},
                                                                     {7, 4.8},
                                                                     {8, 4.2},
                                                                     {9, 4.4},
                                                                     {10, 4.1},
                                                                     {12, 4.0},
                                                                     {16, 3.8},
                                                                     {24, 3.6},
                                                                     {32, 3.5},
                                                                     {96, 3.5},
                                                                     {128, 3.6},
                                                                     {256, 3.7},
                                                                     {512, 3.8},
                                                                     {1024, 3.9},
                                                                     {4096, 4.2},
                                                                     {16384, 4.5}}};

}  // namespace

std::int64_t median_deviation(std::span<const std::int64_t> values) {
  const std::int64_t middle = median(values);
  std::vector<std::int64_t> distances(values.begin(), values.end());
  for (std::int64_t& value : distances) value = std::abs(value - middle);
  return median(distances);
}

double robust_sigma(std::span<const std::int64_t> values) {
  return sigma_of_mad * static_cast<double>(median_deviation(values));
}

std::int64_t quantile(std::span<const std::int64_t> values, double share) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return sorted_quantile(sorted, share);
}

std::int64_t sorted_quantile(std::span<const std::int64_t> sorted, double share) {
  if (sorted.empty()) return 0;
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(position);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const double fraction = position - static_cast<double>(low);
  return sorted[low] + std::llround(fraction * static_cast<double>(sorted[high] - sorted[low]));
}

double binomial_tail(std::int64_t hits, std::int64_t trials, double chance) {
  if (hits <= 0) return 1;
  double tail = 0;
  for (std::int64_t k = hits; k <= trials; ++k) {
    const auto n = static_cast<double>(trials);
    const auto i = static_cast<double>(k);
    const double ways = std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1);
    tail += std::exp(ways + i * std::log(chance) + (n - i) * std::log1p(-chance));
  }
  return std::min(tail, 1.0);
}

// Abramowitz and Stegun 26.7.3 and 26.7.4: a finite sum for each whole number of degrees.
double student_tail(double t, std::int64_t degrees) {
  if (degrees < 1) return 0.5;
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1;
  double sum = 0;
  for (std::int64_t k = odd ? 1 : 0; k <= degrees - 2; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  const double within = odd ? (angle + std::sin(angle) * sum) * 2 / std::numbers::pi : std::sin(angle) * sum;
  return std::max(0.0, (1 - within) / 2);
}

double straggler_threshold(std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  const auto above = std::ranges::lower_bound(threshold_table, n, {}, &std::pair<double, double>::first);
  if (above == threshold_table.end()) return threshold_table.back().second;
  if (above == threshold_table.begin() || above->first == n) return above->second;
  const auto below = above - 1;
  const double share = std::log(n / below->first) / std::log(above->first / below->first);
  return below->second + share * (above->second - below->second);
}

}  // namespace rankscope::analyzer
