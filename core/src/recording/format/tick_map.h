// Ticks of one process -> CLOCK_MONOTONIC of its host, by its clock pairs.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/core/recording/format.h"
#include "rankscope/core/time.h"

namespace rankscope::recording {

/// Linear between neighbouring pairs, with the overall rate outside them. Never decreasing.
class TickMap {
 public:
  /// `pairs` in any order; impossible ones are ignored. `ticks_per_ns` is used while the pairs span less than 10 ms.
  TickMap(std::vector<ClockPair> pairs, double ticks_per_ns);

  /// A stretch of ticks [first, end) with one rate.
  struct Piece {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::uint64_t base_ticks = 0;
    std::int64_t base_ns = 0;
    double ns_per_tick = 1;

    [[nodiscard]] bool holds(std::uint64_t ticks) const { return ticks - first < end - first; }
    [[nodiscard]] HostTime host_time(std::uint64_t ticks) const;
  };
  /// The stretch that holds `ticks`.
  [[nodiscard]] Piece piece_at(std::uint64_t ticks) const;

  [[nodiscard]] HostTime host_time(std::uint64_t ticks) const { return piece_at(ticks).host_time(ticks); }
  /// CLOCK_REALTIME - CLOCK_MONOTONIC at the last pair.
  [[nodiscard]] std::int64_t unix_minus_monotonic_ns() const;

 private:
  std::vector<ClockPair> pairs_;  // ascending, without repeats
  double ns_per_tick_ = 1;
};

}  // namespace rankscope::recording
