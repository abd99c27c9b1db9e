// The clock of a segment, and how it is tied to the host's clocks.
#pragma once

#include <cstdint>

#include "rankscope/core/recording/format.h"

namespace rankscope::recording {

/// Reads the segment clock: the time-stamp counter where it is invariant, else CLOCK_MONOTONIC.
class TickClock {
 public:
  static TickClock detect();
  [[nodiscard]] std::uint64_t now() const {
#if defined(__x86_64__)
    if (source_ == ClockSource::tsc) return __builtin_ia32_rdtsc();
#endif
    return now_monotonic();
  }
  [[nodiscard]] ClockSource source() const { return source_; }
  [[nodiscard]] ClockPair pair() const;
  /// CLOCK_MONOTONIC in ns.
  static std::uint64_t now_monotonic();

 private:
  ClockSource source_ = ClockSource::monotonic_ns;
};

}  // namespace rankscope::recording
