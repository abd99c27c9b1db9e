// Opens whatever a user points at: a .rankscope folder or traces of other profilers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/progress.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/most_ranks.h"
#include "rankscope/core/result.h"
#include "rankscope/core/secrets.h"

namespace rankscope::analyzer {

/// Reads "FILE=RANK,FILE=RANK", as --rank-map has it, into ImportOptions::rank_map; `usage` for anything else.
[[nodiscard]] Result<std::map<std::string, std::uint32_t>> rank_map_from(std::string_view text);

/// How an input is read.
struct ImportOptions {
  std::map<std::string, std::uint32_t> rank_map;  ///< file name -> rank, for files that do not tell (--rank-map)
  Progress progress;
  unsigned threads = 0;                  ///< 0 = as many as the machine has
  Texts texts = Texts::without_secrets;  ///< --keep-texts shows them as recorded
  std::vector<QualityPlace> losses{};    ///< what was lost before the files are read; open_run() adds to it
};

/// One .rankscope folder, or traces of one kind: files, or folders of them. `unreadable` when a path is absent, empty,
/// no recording, of a newer major version, or holds no event; `usage` for a
/// --rank-map that does not fit, or that the input has no use for.
[[nodiscard]] Result<std::shared_ptr<const Run>> open_run(std::span<const std::filesystem::path> paths,
                                                          const ImportOptions& options);
[[nodiscard]] Result<std::shared_ptr<const Run>> open_run(const std::filesystem::path& path);

/// True for a file that is a trace, a report or a pack of somebody: what open_run() reads or names, unless an export of
/// rankscope wrote it. Who writes over it loses a recording.
[[nodiscard]] bool holds_original(const std::filesystem::path& path);

}  // namespace rankscope::analyzer
