// Waiting, transfer and arrival inside one matched operation (metrics.md 6).
#pragma once

#include <vector>

#include "collectives/find.h"

namespace rankscope::analyzer {

/// Fills spread, first and last rank, wait and transfer of an operation whose members all finished, and their parts.
/// Returns how many members ended before another one had started (7.6).
std::uint64_t time_operation(const Run& run, const ClockTrust& clocks, Operation& operation,
                             std::vector<MemberPart>& parts);

/// True where durations tell more than starts do (6.9): the clocks of the ranks cannot be compared, or all wait for all
/// and the starts lie closer together than clocks that are less exact than durations can tell (7.5).
[[nodiscard]] bool is_timed_by_duration(const Run& run, const ClockTrust& clocks, const Operation& operation);

}  // namespace rankscope::analyzer
