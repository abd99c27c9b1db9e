// Which arrows to draw between the members of collectives.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

enum class FlowPhase : std::uint8_t { none, start, step, finish };

/// What a member of a collective shares with the others.
struct Flow {
  std::int64_t id = 0;  ///< of the operation, unique in the run, from 1
  FlowPhase phase = FlowPhase::none;
  RunTime at;                 ///< where the arrow touches the slice of this member
  std::uint32_t members = 0;  ///< that started
};

/// One entry per row of Run::collectives(). Operations are those that the analyses match (metrics.md 5); the arrows of
/// a collective lead from the first to start to the last, that of a pair from the sender to the receiver. Members
/// without length take no part: an arrow needs a slice.
[[nodiscard]] std::vector<Flow> collective_flows(const Run& run);

}  // namespace rankscope::analyzer
