// The accelerator's own timer, with which the channels of a collective tell when they ran.
#pragma once

#include <cstdint>

#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::inject::nccl {

/// What is called where the library is RCCL: its timer counts ticks of 10 ns (device/common.h, globaltimer:
/// wall_clock64, 100 MHz on MI100 and later), not ns as NCCL's does.
void timer_counts_ticks() noexcept;

/// ns of what the timer shows.
[[nodiscard]] std::uint64_t ns_of_timer(std::uint64_t shown);

/// Ties the timer to the clock of the recording: `gpu_ns` lies a little before now. Any number of threads. False: the
/// times of the timer cannot be used, or not yet: of one that counts ticks, it is first measured how fast it does.
bool saw_timer(recording::ThreadWriter& pen, std::int64_t gpu_ns);

}  // namespace rankscope::inject::nccl
