// Does a series grow, and how fast? Robust against outliers (metrics.md 14.5).
#pragma once

#include <cstdint>
#include <span>

namespace rankscope::analyzer {

/// One value per place; places ascend.
struct TrendPoint {
  double place = 0;
  std::int64_t value = 0;
};

/// Median of the slopes of all pairs of points (Theil 1950, Sen 1968), in units of value per place; 0 below two points.
[[nodiscard]] double theil_sen_slope(std::span<const TrendPoint> points);

/// Two-sided p of "there is no trend" by Mann and Kendall's S: normal approximation, corrected for ties and continuity.
/// 1 where all values are equal or there are fewer than two.
[[nodiscard]] double mann_kendall_p(std::span<const TrendPoint> points);

}  // namespace rankscope::analyzer
