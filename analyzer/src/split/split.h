// Where the time of a rank's window went, exact to the nanosecond (metrics.md 2).
#pragma once

#include <vector>

#include "split/layers.h"

namespace rankscope::analyzer {

/// One split per window. The windows must ascend and not overlap.
[[nodiscard]] std::vector<TimeSplit> split_windows(const Layers& layers, std::span<const TimeRange> windows);

}  // namespace rankscope::analyzer
