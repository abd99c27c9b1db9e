// Samples the GPUs of the host from one of its processes.
#pragma once

namespace rankscope::inject {

/// Begins to sample on a thread of its own, if this may be the first rank of the host and no other process samples.
/// Once per process.
void start_nvml() noexcept;

}  // namespace rankscope::inject
