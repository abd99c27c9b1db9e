// How much of any stretch of time lies in the counted windows of a rank.
#pragma once

#include <cstdint>
#include <vector>

#include "steps/counted_windows.h"

namespace rankscope::analyzer {

/// Time in several windows is counted once.
class WindowTime {
 public:
  explicit WindowTime(const CountedWindows& windows);

  [[nodiscard]] std::int64_t length_ns(TimeRange range) const { return before(range.end) - before(range.begin); }
  /// True if something that begins then is counted.
  [[nodiscard]] bool counts(RunTime begin) const;

 private:
  [[nodiscard]] std::int64_t before(RunTime time) const;

  std::vector<TimeRange> windows_;  // ascending, disjoint
  std::vector<std::int64_t> sums_;  // time of the windows before each
  bool everything_ = false;
};

}  // namespace rankscope::analyzer
