// What is sampled or summed over time: device memory that processes hold, and the hardware counters of the devices.
#pragma once

#include "importers/nsys/timeline.h"

namespace rankscope::analyzer::nsys {

/// cudaMalloc and cudaFree as "[memory]" marks, and the bytes that a process holds as counter "reserved_bytes".
[[nodiscard]] Result<void> read_memory_usage(const Database& database, Timeline& timeline);
/// GPU_METRICS as counter tracks of the process that uses the device.
[[nodiscard]] Result<void> read_gpu_metrics(const Database& database, Timeline& timeline);

}  // namespace rankscope::analyzer::nsys
