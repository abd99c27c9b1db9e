// What the counters of the GPUs say of each rank (metrics.md 2.8).
#pragma once

#include "steps/find.h"

namespace rankscope::analyzer {

/// Fills in the devices of each row, over the windows of its split, and what they make of the rank.
void describe_devices(const Run& run, const Section<StepsSection>& steps, std::vector<RankRow>& rows);

}  // namespace rankscope::analyzer
