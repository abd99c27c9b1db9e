// How the clock of one process is read in run time.
#pragma once

#include "rankscope/core/time.h"

namespace rankscope {

/// A clock that was `ahead` of run time at `pivot` (which it shows itself), and gains `rate` (0.00002 = 20 ppm) on it
/// (metrics.md 7.3). The large part is whole nanoseconds: only the correction is a double, never the time.
struct ClockMap {
  RunTime pivot{};
  nanoseconds ahead{0};
  double ahead_fine_ns = 0;  ///< added to `ahead`
  double rate = 0;

  /// Times that the clock orders stay in that order, but may become equal. Far outside of 146 years it stops.
  [[nodiscard]] RunTime run_time(RunTime shown) const;
  [[nodiscard]] bool is_identity() const { return ahead == nanoseconds{0} && ahead_fine_ns == 0 && rate == 0; }
  bool operator==(const ClockMap&) const = default;
};

}  // namespace rankscope
