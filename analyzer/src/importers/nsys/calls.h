// Calls on host threads: CUDA's runtime and driver, MPI, libraries, the operating system, and the profiler's own
// stalls.
#pragma once

#include "importers/nsys/activities.h"

namespace rankscope::analyzer::nsys {

/// Reads all tables of calls. Those of CUDA are linked to the work they launched, and communication kernels learn from
/// which thread and when they were launched.
[[nodiscard]] Result<void> read_calls(const Database& database, Timeline& timeline, Activities& activities);

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": the version is the profiler's, not the program's.
[[nodiscard]] std::string without_version(std::string_view name);

}  // namespace rankscope::analyzer::nsys
