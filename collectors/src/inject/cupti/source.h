// Kernels, copies and CUDA's calls, from CUPTI's activity interface.
#pragma once

namespace rankscope::inject::cupti {

/// Loads libcupti and begins to record. Once per process, from CUDA's own initialisation. What makes it impossible is
/// written into the recording; everything else is recorded all the same.
void start() noexcept;

/// The recorder is the one profiler that CUPTI has in this process; not in the child of a fork.
[[nodiscard]] bool is_subscribed() noexcept;

}  // namespace rankscope::inject::cupti
