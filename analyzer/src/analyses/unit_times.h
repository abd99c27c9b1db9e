// Waiting, moving and arriving inside one matched unit (metrics.md 6).
#pragma once

#include "analyses/collectives.h"
#include "analyses/comm_ops.h"

namespace rankscope::analyzer {

/// Fills spread, first and last rank, wait and transfer of a unit whose members all finished, and their parts.
/// Returns how many members ended before another one had started (7.6).
std::uint64_t time_unit(const Run& run, const ClockTrust& clocks, Unit& unit, std::vector<MemberPart>& parts);

/// Which clocks the times of a unit with these ranks rest on: "run time" or "duration" (6.9).
[[nodiscard]] std::string_view method_of(const ClockTrust& clocks, std::span<const RankId> ranks);

}  // namespace rankscope::analyzer
