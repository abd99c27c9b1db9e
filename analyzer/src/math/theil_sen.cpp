#include "math/theil_sen.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>
#include "math/statistics.h"

namespace rankscope::analyzer {
namespace {

/// Sum of t (t - 1) (2 t + 5) over the groups of t equal values.
double tie_correction(std::span<const TrendPoint> points) {
  std::vector<std::int64_t> values;
  values.reserve(points.size());
  for (const TrendPoint& point : points) values.push_back(point.value);
  std::ranges::sort(values);
  double sum = 0;
  for (auto first = values.begin(); first != values.end();) {
    const auto behind = std::upper_bound(first, values.end(), *first);
    const auto t = static_cast<double>(behind - first);
    sum += t * (t - 1) * (2 * t + 5);
    first = behind;
  }
  return sum;
}

}  // namespace

double theil_sen_slope(std::span<const TrendPoint> points) {
  std::vector<double> slopes;
  slopes.reserve(points.size() * points.size() / 2);
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].place - points[i].place;
      const double rise = static_cast<double>(points[j].value) - static_cast<double>(points[i].value);
      if (run > 0) slopes.push_back(rise / run);
    }
  }
  return median(std::move(slopes));
}

double mann_kendall_p(std::span<const TrendPoint> points) {
  std::int64_t s = 0;
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = i + 1; j < points.size(); ++j)
      s += static_cast<int>(points[j].value > points[i].value) - static_cast<int>(points[j].value < points[i].value);
  const auto n = static_cast<double>(points.size());
  const double variance = (n * (n - 1) * (2 * n + 5) - tie_correction(points)) / 18;
  if (s == 0 || variance <= 0) return 1;
  const double z = (std::abs(static_cast<double>(s)) - 1) / std::sqrt(variance);
  return std::erfc(z / std::numbers::sqrt2);
}

}  // namespace rankscope::analyzer
