// The critical path as a track of the timeline (metrics.md 11).
#pragma once

#include <memory>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// A copy of the run, in run time, with a process "critical path" whose one lane is tiled by the stretches of the path
/// of all consecutive counted steps; each has the attributes rank, class, and lane where it ran on one. Stretches of
/// one name, rank, lane and class that follow one another are one. `not_computable` where no path can be walked.
[[nodiscard]] Result<std::shared_ptr<const Run>> with_critical_path(const Run& run);

}  // namespace rankscope::analyzer
