// Reads Kineto's JSON (torch.profiler) of every year; format and sources: docs/kineto.md.
#pragma once

#include "importers/shared/importer.h"

namespace rankscope::analyzer::kineto {

[[nodiscard]] bool recognises(std::string_view first_bytes, std::string_view file_name);

/// One file per rank.
[[nodiscard]] Result<std::shared_ptr<const Run>> read(std::span<const std::filesystem::path> files,
                                                      const ImportOptions& options);

}  // namespace rankscope::analyzer::kineto
