// Who of several ranks that are slow together makes the others slow.
#pragma once

#include <span>

#include "rankscope/analyzer/pipeline/section.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// The ranks of one tensor-parallel group all take as long as their slowest one. Of owners that are about equal, and on
/// one place, the one counts that spends least in common operations: for it the others wait there.
[[nodiscard]] PipelineOwner slowest_of(const Run& run, std::span<const PipelineOwner> owners);

}  // namespace rankscope::analyzer
