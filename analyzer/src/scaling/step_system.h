// A step of one rank, reduced to what its collectives see of it: how long after its begin and after the end of each
// earlier collective the rank arrives at the next one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "replay/graph.h"

namespace rankscope::analyzer::scaling {

/// One collective of a step, equal on all ranks.
struct StepUnit {
  StringId op;
  std::int64_t bytes = -1;
  bool operator==(const StepUnit&) const = default;
};

inline constexpr std::int64_t never = INT64_MIN / 4;

/// Longest ways through one step of one rank, in ns. Row k: to the arrival at unit k (the last row: to the end of the
/// step); column 0: from the begin; column j + 1: from the end of unit j. `never` where nothing leads there.
struct StepSystem {
  std::uint32_t rank = 0;  ///< row of Graph::ranks
  std::uint32_t step = 0;  ///< row of Graph::steps
  std::vector<StepUnit> units;
  std::vector<std::int64_t> transfers_ns;  ///< of each unit on this rank
  std::vector<std::int64_t> ways_ns;       ///< row by row: row k has k + 1 columns

  [[nodiscard]] std::span<const std::int64_t> row(std::size_t unit) const {
    return std::span(ways_ns).subspan(unit * (unit + 1) / 2, unit + 1);
  }
};

/// All steps of all ranks. Unavailable where collectives are not of all ranks together.
[[nodiscard]] Section<std::vector<StepSystem>> step_systems(const replay::Graph& graph);

/// How long a step takes if every rank does its system and unit k moves data for transfers[k].
[[nodiscard]] std::int64_t step_length(std::span<const StepSystem* const> ranks, std::span<const double> factors,
                                       std::span<const std::int64_t> transfers_ns);

}  // namespace rankscope::analyzer::scaling
