// CUPTI's clock beside the recorder's.
#pragma once

#include <cstdint>
#include <optional>

namespace rankscope::inject::cupti {

/// Both clocks at one moment.
struct ClockReading {
  std::uint64_t ticks = 0;  ///< of the recorder's segment
  std::int64_t ns = 0;      ///< of CUPTI
};

/// CUPTI's clock is read between two of ours; the tightest of a few tries is taken. Nothing if CUPTI does not tell.
[[nodiscard]] std::optional<ClockReading> read_clock(int (*get_timestamp)(std::uint64_t*));

/// Ticks at which CUPTI's clock showed `ns`, on the line through two readings.
[[nodiscard]] std::uint64_t ticks_at(std::int64_t ns, const ClockReading& before, const ClockReading& after);

}  // namespace rankscope::inject::cupti
