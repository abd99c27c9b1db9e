// How much later work could end without making anything longer (metrics.md 10.4, 11.5).
#pragma once

#include <span>
#include <vector>

#include "collectives/find.h"
#include "replay/graph.h"

namespace rankscope::analyzer::replay {

/// By how many ns each node could end later without the end of the last step moving; by row of Graph::nodes. Times are
/// those of the replay as measured.
[[nodiscard]] std::vector<std::int64_t> slack_of(const Graph& graph);

/// For each operation whether all of its members that the graph holds could end later by 1 % of their step; false for
/// one that the graph does not hold.
[[nodiscard]] std::vector<bool> operations_with_slack(const Graph& graph, std::span<const std::int64_t> slack,
                                                      std::span<const Operation> operations);

}  // namespace rankscope::analyzer::replay
