// A step of one rank, reduced to what its collectives see of it: how long after its begin and after the end of each
// earlier collective the rank arrives at the next one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/section.h"
#include "replay/graph.h"

namespace rankscope::analyzer::scaling {

/// One collective of a step.
struct StepOperation {
  StringId op;
  std::int64_t bytes = -1;  ///< S of metrics.md 6
};

/// Ways grow with the square of the collectives of a step: beyond this many of them a run is refused, and steps of
/// which more than that many ways would be kept are sampled, evenly over ranks and steps.
inline constexpr std::size_t most_operations = 1000;
inline constexpr std::size_t most_ways = 2'000'000;

inline constexpr std::int64_t never = INT64_MIN / 4;

/// Longest ways through one step of one rank, in ns. Row k: to the arrival at operation k (the last row: to the end of
/// the step); column 0: from the begin; column j + 1: from the end of operation j. `never` where nothing leads there.
struct StepSystem {
  std::uint32_t rank = 0;                  ///< row of Graph::ranks
  std::uint32_t step = 0;                  ///< row of Graph::steps
  std::vector<StepOperation> operations;   ///< in the same order on all ranks
  std::vector<std::int64_t> transfers_ns;  ///< of each operation on this rank
  std::vector<std::int64_t> ways_ns;       ///< row by row: row k has k + 1 columns; empty: not kept
  double own_ns = 0;                       ///< from the begin to the end, if transfers took no time

  [[nodiscard]] std::span<const std::int64_t> row(std::size_t operation) const {
    return std::span(ways_ns).subspan(operation * (operation + 1) / 2, operation + 1);
  }
};

/// The steps in which all ranks run the same operations, the most frequent row of them.
struct StepSystems {
  std::vector<StepSystem> systems;  ///< by rank and step; each step has all ranks, not each of them has its ways
  std::int64_t steps = 0;
  std::int64_t uneven = 0;  ///< left out: ranks do not run the same collectives in one order from begin to end
  std::int64_t other = 0;   ///< left out: all ranks run another row of operations
};

/// Unavailable where collectives are not of all ranks together, or not known.
[[nodiscard]] Section<StepSystems> step_systems(const replay::Graph& graph, const Matching& matching);

/// How long a step takes if every rank does its system and operation k moves data for transfers[k].
[[nodiscard]] std::int64_t step_length(std::span<const StepSystem* const> ranks, std::span<const double> factors,
                                       std::span<const std::int64_t> transfers_ns);

}  // namespace rankscope::analyzer::scaling
