// Which rank a trace file belongs to.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "importers/importer.h"
#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer {

/// What a file tells about its rank, best first.
struct RankEvidence {
  std::filesystem::path path;
  std::optional<std::int64_t> metadata;      ///< the trace says it
  std::optional<std::int64_t> communicator;  ///< its collectives say it
  std::string trace_name;                    ///< name under which the trace was written
  std::string host;
  std::set<std::int32_t> devices;  ///< ordinals with work
};

/// The digits of "rank-3", "rank_3", "rank3" or "worker3" in a file name.
[[nodiscard]] std::optional<std::int64_t> rank_in_name(std::string_view file_name);

/// One rank per file. A single file that does not tell is rank 0, and so are several one-device files of one host
/// numbered by device; both are counted (rank_unknown). `unreadable` with the names and --rank-map if files cannot be
/// told apart or claim one rank; `usage` if the map names no file.
[[nodiscard]] Result<std::vector<RankId>> assign_ranks(std::span<const RankEvidence> files,
                                                       const ImportOptions& options, Quality& quality);

}  // namespace rankscope::analyzer
