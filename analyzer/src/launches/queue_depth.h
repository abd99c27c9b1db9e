// How many pieces of work stand in a queue at each instant.
#pragma once

#include <span>
#include <vector>

#include "math/interval_set.h"
#include "rankscope/analyzer/launches/section.h"

namespace rankscope::analyzer {

/// Something that enters the queue and leaves it; nothing for one that leaves before it enters.
struct Queued {
  RunTime entered;
  RunTime left;
};

/// Over the windows, which ascend; `busy`: when something runs.
[[nodiscard]] QueueDepth queue_depth(std::span<const Queued> queued, const IntervalSet& busy,
                                     std::span<const TimeRange> windows);

}  // namespace rankscope::analyzer
