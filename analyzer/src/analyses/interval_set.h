// Sets of time as sorted, disjoint, non-empty intervals, and one walk over several of them (metrics.md C1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankscope/core/time.h"

namespace rankscope::analyzer {

/// A set of instants. Touching intervals are one.
class IntervalSet {
 public:
  IntervalSet() = default;
  /// The union of intervals in any order; empty ones add nothing.
  [[nodiscard]] static IntervalSet from(std::vector<TimeRange> intervals);

  [[nodiscard]] std::span<const TimeRange> intervals() const { return intervals_; }
  [[nodiscard]] bool empty() const { return intervals_.empty(); }
  [[nodiscard]] std::int64_t length_ns() const;

 private:
  std::vector<TimeRange> intervals_;
};

/// Walks the stretches of time in which the membership in all sets is constant, forwards through ascending windows.
class Sweep {
 public:
  static constexpr std::size_t max_sets = 16;
  /// The sets must outlive the sweep.
  explicit Sweep(std::span<const IntervalSet> sets);

  /// visit(length_ns, bits) for every stretch of `window`; bit i: inside set i. The lengths add up to the window.
  /// A window must not begin before the previous one ended.
  template <class Visit>
  void over(TimeRange window, Visit visit) {
    for (RunTime now = window.begin; now < window.end;) {
      const auto [until, bits] = stretch_at(now, window.end);
      visit((until - now).count(), bits);
      now = until;
    }
  }

 private:
  struct Stretch {
    RunTime until;
    std::uint32_t bits = 0;
  };
  [[nodiscard]] Stretch stretch_at(RunTime now, RunTime limit);

  std::span<const IntervalSet> sets_;
  std::vector<std::size_t> next_;  // per set: first interval that does not end before the current time
};

}  // namespace rankscope::analyzer
