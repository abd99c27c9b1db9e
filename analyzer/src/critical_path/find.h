// The critical path of all steps, by kind, rank and operation (metrics.md 11).
#pragma once

#include "rankscope/analyzer/critical_path/section.h"
#include "rankscope/analyzer/section.h"
#include "replay/graph.h"

namespace rankscope::analyzer::replay {

/// `slack`: of all nodes, as slack_of() tells.
[[nodiscard]] CriticalPathSection critical_path(const Graph& graph, std::span<const std::int64_t> slack);

}  // namespace rankscope::analyzer::replay
