// Percentages as HTA rounds them.
#pragma once

#include <cmath>
#include <cstdint>

namespace rankscope::analyzer {

/// 100 x part / whole, halves to even; 0 of nothing.
inline double hta_percent(std::int64_t part, std::int64_t whole, int decimals) {
  if (whole == 0) return 0;
  const double unit = std::pow(10.0, decimals);
  return std::nearbyint(100.0 * static_cast<double>(part) / static_cast<double>(whole) * unit) / unit;
}

}  // namespace rankscope::analyzer
