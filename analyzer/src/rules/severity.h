// How bad is it: the table of metrics.md 20.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rankscope/analyzer/rules/finding.h"

namespace rankscope::analyzer {

/// With fewer ranks, findings on load balance and on connections are at most major (metrics.md C7).
inline constexpr std::int64_t ranks_for_critical = 4;

/// From where on a number is minor, major, critical.
struct SeverityLimits {
  double minor;
  double major;
  double critical;
};

inline constexpr SeverityLimits gain_limits{0.02, 0.10, 0.25};
inline constexpr SeverityLimits straggler_limits{1.05, 1.10, 1.25};
inline constexpr SeverityLimits straggler_limits_few{1.15, 1.25, 1e300};
inline constexpr SeverityLimits change_limits{0.05, 0.10, 0.25};    // inside a run
inline constexpr SeverityLimits two_runs_limits{0.01, 0.05, 0.10};  // changed step time
inline constexpr SeverityLimits exposed_comm_limits{0.10, 0.20, 0.35};
inline constexpr SeverityLimits exposed_copies_limits{0.10, 0.20, 0.35};
inline constexpr SeverityLimits lost_efficiency_limits{0.20, 0.35, 0.50};  ///< 1 - parallel efficiency
inline constexpr SeverityLimits lost_factor_limits{0.10, 0.20, 0.35};      ///< 1 - a factor of it
inline constexpr SeverityLimits lost_speed_limits{0.20, 0.40, 0.60};       ///< 1 - bus bandwidth / the usual one
inline constexpr SeverityLimits idle_limits{0.10, 0.25, 0.50};
inline constexpr SeverityLimits tensor_core_limits{0.10, 0.25, 1e300};
inline constexpr SeverityLimits throttled_limits{0.10, 0.50, 1e300};  // by heat or a brake, share of the samples
inline constexpr SeverityLimits profiler_limits{0.02, 0.10, 1e300};
inline constexpr SeverityLimits data_limits{0.03, 0.10, 0.25};
inline constexpr SeverityLimits pipeline_limits{0.05, 0.10, 0.20};     ///< measured - theory
inline constexpr SeverityLimits memory_left_limits{0.10, 0.05, 0.02};  ///< below these
inline constexpr SeverityLimits memory_unused_limits{0.15, 0.25, 0.40};
inline constexpr SeverityLimits memory_imbalance_limits{1.15, 1.30, 1.50};

[[nodiscard]] constexpr FindingSeverity severity_of(double value, const SeverityLimits& limits) {
  if (value >= limits.critical) return FindingSeverity::critical;
  if (value >= limits.major) return FindingSeverity::major;
  return value >= limits.minor ? FindingSeverity::minor : FindingSeverity::info;
}

/// The highest row that applies, then capped.
[[nodiscard]] constexpr FindingSeverity worse(FindingSeverity a, FindingSeverity b) { return std::max(a, b); }
[[nodiscard]] constexpr FindingSeverity capped(FindingSeverity severity, FindingSeverity cap) {
  return std::min(severity, cap);
}

}  // namespace rankscope::analyzer
