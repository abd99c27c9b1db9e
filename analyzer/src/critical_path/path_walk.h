// The path of one step, walked backwards through what bound each piece of work (metrics.md 11).
#pragma once

#include "rankscope/analyzer/critical_path/section.h"
#include "replay/graph.h"

namespace rankscope::analyzer::replay {

struct Path {
  std::vector<PathStretch> stretches;  ///< ascending; they tile the step
  std::int64_t clamped_ns = 0;
};

/// `step`: row of Graph::steps. Times are as measured.
[[nodiscard]] Path walk_path(const Graph& graph, std::size_t step);

/// What an item is on a path; a delay is a gap unless it is known to be the host's.
[[nodiscard]] PathClass class_of(Work work);

/// When a step begins for the job: when its last rank does. One more than there are steps: when the last one ends.
[[nodiscard]] RunTime begin_of_step(const Graph& graph, std::size_t step);

}  // namespace rankscope::analyzer::replay
