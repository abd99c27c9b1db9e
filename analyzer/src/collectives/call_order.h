// Numbers for collectives that name their group and not their place in it (metrics.md 5, K4).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// By the order of the calls inside each step, where all ranks of a group mark their steps; a step in which they do not
/// call the same operations in the same order has numbers that no two ranks share. Elsewhere by the order of the calls
/// of each rank.
class CallOrder {
 public:
  explicit CallOrder(const Run& run);

  /// Of a row of Run::collectives() without a sequence number; `order` is its place among the calls of its rank and
  /// group.
  [[nodiscard]] std::int64_t number_of(std::uint32_t row, std::int64_t order) const;
  /// True if some group was numbered step by step.
  [[nodiscard]] bool in_steps() const { return !numbers_.empty(); }

 private:
  std::map<std::uint32_t, std::int64_t> numbers_;  // by row
};

}  // namespace rankscope::analyzer
