// Reads the files of a run on several threads: plain files in stretches, packed ones as they are unpacked.
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "importers/kineto/trace_file.h"
#include "importers/shared/importer.h"

namespace rankscope::analyzer::kineto {

/// One entry per file, in their order; their rows are in `run`, whose processes are those files. `cancelled` is an
/// Error like any other.
[[nodiscard]] Result<std::vector<TraceFile>> load(std::span<const std::filesystem::path> files,
                                                  const ImportOptions& options, RunBuilder& run);

}  // namespace rankscope::analyzer::kineto
