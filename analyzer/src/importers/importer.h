// Readers of other profilers' files: each makes a Run from one or more files of its kind.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "rankscope/analyzer/open.h"

namespace rankscope::analyzer {

struct ImporterInfo {
  std::string_view id;       ///< RunInfo::source of what it reads
  std::string_view summary;  ///< "Kineto JSON (torch.profiler)"
  /// By content: the first bytes of a file, unpacked if it was packed, and the file's name.
  bool (*recognises)(std::string_view first_bytes, std::string_view file_name);
  Result<std::shared_ptr<const Run>> (*read)(std::span<const std::filesystem::path> files,
                                             const ImportOptions& options);
};
/// All importers, in the order in which they are asked.
[[nodiscard]] std::span<const ImporterInfo> importers();

}  // namespace rankscope::analyzer
