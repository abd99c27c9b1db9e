// Which operations tell how fast data moved, and how fast it did (metrics.md 5, 6.6 to 6.8).
#pragma once

#include <optional>

#include "collectives/comm_ops.h"
#include "collectives/find.h"

namespace rankscope::analyzer {

/// True for the first operation of a communicator whose creation is in the recording: it sets up connections.
[[nodiscard]] bool sets_up_connections(const Run& run, const Operation& operation);

inline constexpr std::string_view too_short = "too short";
inline constexpr std::string_view first_operations = "only first operations, which set up connections";

/// Why the operation tells nothing about bandwidth; empty if it does.
[[nodiscard]] std::string_view why_no_bandwidth(const Run& run, const ClockTrust& clocks, const Operation& operation);

/// f · S of an operation: bytes over its transfer time are the bus bandwidth.
[[nodiscard]] double bus_bytes(const Run& run, const Operation& operation);

/// Median length of the members' parts, waiting included.
[[nodiscard]] std::int64_t median_duration_ns(const Run& run, const Operation& operation);

// Waiting, moving and arriving inside one matched operation (metrics.md 6).

/// Fills spread, first and last rank, wait and transfer of an operation whose members all finished, and their parts.
/// Returns how many members ended before another one had started (7.6).
std::uint64_t time_operation(const Run& run, const ClockTrust& clocks, Operation& operation,
                             std::vector<MemberPart>& parts);

/// True where durations tell more than starts do (6.9): the clocks of the ranks cannot be compared, or all wait for all
/// and the starts lie closer together than clocks that are less exact than durations can tell (7.5).
[[nodiscard]] bool is_timed_by_duration(const Run& run, const ClockTrust& clocks, const Operation& operation);

}  // namespace rankscope::analyzer
