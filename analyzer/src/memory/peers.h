// Do ranks of equal work need equally much memory (metrics.md 14.4)?
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Fills in `peers`, or why there are none. A class is compared where each of its ranks has a peak of the same kind.
void add_peers(const Run& run, const Section<StepsSection>& steps, const Section<std::vector<RankRow>>& rows,
               MemorySection& section);

}  // namespace rankscope::analyzer
