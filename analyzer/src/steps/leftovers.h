// Work of accelerators that was launched before the recording began (metrics.md 1.2).
#pragma once

#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// By process: when what was launched before the recording began had ended; RunTime::min() where nothing was. Streams
/// are queues, so that it is what stands before the first work with a recorded launch on its stream; work without a
/// launch is no sign of it where launches are missing later, too, where few are recorded, or where it is more than all
/// that follows.
[[nodiscard]] std::vector<RunTime> ends_of_leftovers(const Run& run);

}  // namespace rankscope::analyzer
