// Numbers for collectives that name their group and not their place in it (metrics.md 5, K4).
#pragma once

#include <cstdint>
#include <vector>

#include "clocks/clock_trust.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// By the order of the calls inside each step and between two, where all ranks of a group mark their steps; a step in
/// which they do not call the same operations in the same order has numbers that no two ranks share. Elsewhere, and
/// where times contradict that order, by the order of the calls of each rank. If times contradict it as well, no two
/// ranks share a number.
class CallOrder {
 public:
  CallOrder(const Run& run, const ClockTrust& clocks);

  /// Of a row of Run::collectives() that is a collective without a sequence number: behind all that its group has.
  [[nodiscard]] std::int64_t number_of(std::uint32_t row) const { return numbers_[row]; }
  /// True if some group was numbered step by step.
  [[nodiscard]] bool in_steps() const { return in_steps_; }

 private:
  std::vector<std::int64_t> numbers_;  // parallel to Run::collectives(); empty: all have sequence numbers
  bool in_steps_ = false;
};

}  // namespace rankscope::analyzer
