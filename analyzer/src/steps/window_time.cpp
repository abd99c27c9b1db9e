#include "steps/window_time.h"

#include <algorithm>

#include "math/interval_set.h"

namespace rankscope::analyzer {

WindowTime::WindowTime(const CountedWindows& windows) : everything_(windows.steps == 0) {
  const IntervalSet counted = IntervalSet::from(windows.ranges);  // steps whose numbers jump may overlap
  windows_.assign(counted.intervals().begin(), counted.intervals().end());
  std::int64_t sum = 0;
  for (const TimeRange& window : windows_) {
    sums_.push_back(sum);
    sum += window.length().count();
  }
}

bool WindowTime::counts(RunTime begin) const {
  if (everything_) return true;
  const auto after = std::ranges::upper_bound(windows_, begin, {}, &TimeRange::begin);
  return after != windows_.begin() && (after - 1)->contains(begin);
}

std::int64_t WindowTime::before(RunTime time) const {
  const auto after = std::ranges::upper_bound(windows_, time, {}, &TimeRange::begin);
  if (after == windows_.begin()) return 0;
  const auto at = static_cast<std::size_t>(after - windows_.begin()) - 1;
  return sums_[at] + (std::min(time, windows_[at].end) - windows_[at].begin).count();
}

}  // namespace rankscope::analyzer
