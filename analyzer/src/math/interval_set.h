// Sets of time as sorted, disjoint, non-empty intervals, and one walk over several of them (metrics.md C1).
#pragma once

#include <algorithm>
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

/// The instants of `set` outside of `other`.
[[nodiscard]] IntervalSet without(const IntervalSet& set, const IntervalSet& other);

/// The instants that are in both.
[[nodiscard]] IntervalSet both(const IntervalSet& a, const IntervalSet& b);

/// Measures pieces inside a set, which must outlive it. A piece must not begin before the one asked for last.
class Inside {
 public:
  explicit Inside(const IntervalSet& set) : intervals_(set.intervals()) {}

  std::int64_t length_ns(TimeRange piece) {
    pass(piece.begin);
    std::int64_t sum = 0;
    for (std::size_t at = next_; at < intervals_.size() && intervals_[at].begin < piece.end; ++at)
      sum += intersect(intervals_[at], piece).length().count();
    return sum;
  }
  bool contains(RunTime time) {
    pass(time);
    return next_ < intervals_.size() && intervals_[next_].contains(time);
  }

 private:
  void pass(RunTime time) {
    while (next_ < intervals_.size() && intervals_[next_].end <= time) ++next_;
  }

  std::span<const TimeRange> intervals_;
  std::size_t next_ = 0;
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
