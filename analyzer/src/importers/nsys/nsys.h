// Reads SQLite exports of Nsight Systems (schemas 2.9 to 3.25; reference: what NVIDIA documents and real exports hold).
#pragma once

#include "importers/shared/importer.h"

namespace rankscope::analyzer::nsys {

/// By content: an SQLite database.
[[nodiscard]] bool recognises(std::string_view first_bytes, std::string_view file_name);
/// All files become one Run. Fails as a whole if one of them cannot be read: an export can be made again.
[[nodiscard]] Result<std::shared_ptr<const Run>> read(std::span<const std::filesystem::path> files,
                                                      const ImportOptions& options);

}  // namespace rankscope::analyzer::nsys
