// Which operations tell how fast data moved, and how fast it did (metrics.md 5, 6.6 to 6.8).
#pragma once

#include <optional>

#include "collectives/comm_ops.h"
#include "collectives/find.h"

namespace rankscope::analyzer {

/// True for the first operation of a communicator whose creation is in the recording: it sets up connections.
[[nodiscard]] bool sets_up_connections(const Run& run, const Operation& operation);

inline constexpr std::string_view too_short = "too short to measure";
inline constexpr std::string_view first_operations = "only first operations, which set up connections";

/// Why the operation tells nothing about bandwidth; empty if it does.
[[nodiscard]] std::string_view why_no_bandwidth(const Run& run, const ClockTrust& clocks, const Operation& operation);

/// f · S of an operation: bytes over its transfer time are the bus bandwidth.
[[nodiscard]] double bus_bytes(const Run& run, const Operation& operation);

/// Median length of the members' parts, waiting included.
[[nodiscard]] std::int64_t median_duration_ns(const Run& run, const Operation& operation);

}  // namespace rankscope::analyzer
