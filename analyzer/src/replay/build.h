// Makes the replay graph of a run (metrics.md 12.1).
#pragma once

#include "collectives/find.h"
#include "rankscope/analyzer/steps/section.h"
#include "replay/graph.h"
#include "steps/find.h"

namespace rankscope::analyzer::replay {

/// Of the longest row of consecutive counted steps, over all ranks that have them; without steps of the whole
/// recording. Unavailable where the clocks of the ranks cannot be compared.
[[nodiscard]] Section<Graph> build_graph(const Run& run, const Section<StepsSection>& steps, const Matching& matching,
                                         const ClockTrust& clocks);

}  // namespace rankscope::analyzer::replay
