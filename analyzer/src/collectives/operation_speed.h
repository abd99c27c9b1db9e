// Which operations tell how fast data moved, and how fast it did (metrics.md 5, 6.6 to 6.8).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/comm_ops.h"
#include "collectives/find.h"

namespace rankscope::analyzer {

/// True for the first operation of a communicator whose creation is in the recording: it sets up connections.
[[nodiscard]] bool sets_up_connections(const Run& run, const Operation& operation);

/// Why an operation tells nothing about bandwidth.
enum class NoBandwidth : std::uint8_t {
  undefined,
  bytes_too_large,
  no_bytes,
  members_missing,
  no_transfer,  ///< Operation::why_no_transfer says why
  sets_up_connections,
  too_short,
};

/// Nothing if the operation tells its bandwidth.
[[nodiscard]] std::optional<NoBandwidth> no_bandwidth(const Run& run, const ClockTrust& clocks,
                                                      const Operation& operation);
/// "too short to measure"
[[nodiscard]] std::string_view words_of(NoBandwidth why, const Operation& operation);

/// f · S of an operation: bytes over its transfer time are the bus bandwidth.
[[nodiscard]] double bus_bytes(const Run& run, const Operation& operation);

/// Median length of the members' parts, waiting included.
[[nodiscard]] std::int64_t median_duration_ns(const Run& run, const Operation& operation);

}  // namespace rankscope::analyzer
