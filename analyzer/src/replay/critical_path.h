// The critical path of all steps, by kind, rank and operation (metrics.md 11).
#pragma once

#include "rankscope/analyzer/critical_path_section.h"
#include "rankscope/analyzer/section.h"
#include "replay/graph.h"

namespace rankscope::analyzer::replay {

[[nodiscard]] CriticalPathSection critical_path(const Graph& graph);

}  // namespace rankscope::analyzer::replay
