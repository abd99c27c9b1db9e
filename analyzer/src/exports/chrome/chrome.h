// Chrome's trace event format (JSON): one process per rank, one thread row per lane, arrows through collectives.
#pragma once

#include <filesystem>

#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

/// Times count from the start of the run, so that microseconds with three decimals stay exact in readers that use
/// doubles; the wall-clock origin is the integer baseTimeNanoseconds, where it was recorded. Deterministic.
[[nodiscard]] Result<void> write_chrome(const Run& run, const std::filesystem::path& out, const Progress& progress);

}  // namespace rankscope::analyzer
