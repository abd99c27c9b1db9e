// Kineto's own JSON (torch.profiler), faithful: opened again it is the same Run.
#pragma once

#include <filesystem>

#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {

/// One rank: a file. Several: a folder with a file per rank. Processes without a rank have no place in the format and
/// are left out.
[[nodiscard]] Result<void> write_kineto(const Run& run, const std::filesystem::path& out, const Progress& progress);

}  // namespace rankscope::analyzer
