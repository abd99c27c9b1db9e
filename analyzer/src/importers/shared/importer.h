// Readers of other profilers' files: each makes a Run from one or more files of its kind.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer {

struct ImporterInfo {
  std::string_view id;                         ///< RunInfo::source of what it reads
  std::string_view summary;                    ///< "Kineto JSON (torch.profiler)"
  std::span<const std::string_view> suffixes;  ///< of its files' names: one that it does not recognise is damaged
  /// By content: the first bytes of a file, unpacked if it was packed, and the file's name.
  bool (*recognises)(std::string_view first_bytes, std::string_view file_name);
  Result<std::shared_ptr<const Run>> (*read)(std::span<const std::filesystem::path> files,
                                             const ImportOptions& options);
};
/// All importers, in the order in which they are asked.
[[nodiscard]] std::span<const ImporterInfo> importers();

/// Counts what was lost, and says where.
inline void add_loss(const QualityPlace& loss, RunBuilder& run) {
  run.quality().add(loss.counter, loss.amount);
  run.info().places.push_back(loss);
}

}  // namespace rankscope::analyzer
