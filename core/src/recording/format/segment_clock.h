// Ticks of one segment -> run time.
#pragma once

#include <cstdint>

#include "rankscope/core/time.h"
#include "recording/format/tick_map.h"

namespace rankscope::recording {

/// What has to be known about all segments before one is decoded: the shift from its host's clock to run time.
struct SegmentClock {
  TickMap ticks;
  nanoseconds run_minus_host{0};

  [[nodiscard]] RunTime run_time(std::uint64_t value) const {
    return RunTime{ticks.host_time(value).time_since_epoch() + run_minus_host};
  }
};

}  // namespace rankscope::recording
