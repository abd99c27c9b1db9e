// Recordings for other tools.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "rankscope/analyzer/progress.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// A format that other tools read, and the function that writes a run in it.
struct ExportInfo {
  std::string_view id;  ///< as in --to chrome
  std::string_view summary;
  Result<void> (*write)(const Run& run, const std::filesystem::path& out, const Progress& progress);
};
/// All exports, in the order of --help.
[[nodiscard]] std::span<const ExportInfo> exports();

}  // namespace rankscope::analyzer
