// Whether the GPU of a slow rank runs slower than those of the others (metrics.md 9.3, 9.7).
#pragma once

#include "rankscope/analyzer/stragglers/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Adds to ranks that compute slowly what the counters of their GPUs say of the time in which they were slow. A clock
/// below that of the others is the second proof that two or three ranks need.
void add_device_evidence(const Run& run, const StepsSection& steps, StragglersSection& section);

}  // namespace rankscope::analyzer
