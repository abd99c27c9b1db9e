// What each member of an operation waited while nothing else went on (metrics.md 2.6, 10.1).
#pragma once

#include <vector>

#include "split/layers.h"
#include "steps/counted_windows.h"

namespace rankscope::analyzer {

struct ExposedWait {
  std::uint32_t row = 0;        ///< of Run::collectives()
  std::int64_t ns = 0;          ///< anywhere in the recording
  std::int64_t counted_ns = 0;  ///< in the counted windows
};

/// Members that waited, by begin. Each instant is charged to one of them, the one that began first; the counted ones
/// add up to the rank's exposed waiting in these windows.
[[nodiscard]] std::vector<ExposedWait> exposed_waits(const Run& run, RankId rank, const Matching& matching,
                                                     const Layers& layers, const CountedWindows& windows);

}  // namespace rankscope::analyzer
