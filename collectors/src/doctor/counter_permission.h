// Whether the hardware's counters of the GPUs may be read here: a line of `rankscope doctor`.
#pragma once

#include <filesystem>

#include "cupti/library.h"
#include "rankscope/collectors/gpu_state.h"

namespace rankscope::collectors {

/// By what the kernel module permits, what this process may do, and what CUPTI can. `root` holds /proc.
[[nodiscard]] GpuState counter_state(const std::filesystem::path& root, const cupti::Library& library);

}  // namespace rankscope::collectors
