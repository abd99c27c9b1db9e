// The hardware's counters of the GPUs that this process uses, from CUPTI's PM sampling.
#pragma once

#include <cstdint>

namespace rankscope::inject::pm {

/// Begins to sample on a thread of its own. Once per process, from CUDA's own initialisation. What makes it impossible
/// is written into the recording; everything else is recorded all the same.
void start() noexcept;

/// The thread that samples, as gettid() tells it: what it asks CUDA for is not the program's.
[[nodiscard]] bool is_own_thread(std::int64_t thread) noexcept;

}  // namespace rankscope::inject::pm
