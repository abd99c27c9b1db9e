// Which rank a trace file belongs to.
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "importers/shared/importer.h"
#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer::kineto {

/// What a file tells about its rank, best first.
struct RankEvidence {
  std::filesystem::path path;
  std::optional<std::int64_t> metadata;      ///< the trace says it
  std::optional<std::int64_t> communicator;  ///< its collectives say it
  std::string trace_name;                    ///< name under which the trace was written
  std::string host;
  std::set<std::int32_t> devices;  ///< ordinals with work
  std::int64_t world_size = 0;     ///< 0: not told
};

/// One rank per file; --rank-map comes before all evidence. A single file that does not tell is rank 0, and so are
/// several one-device files of one host numbered by device; both are counted (rank_unknown). `unreadable` with the
/// names and --rank-map if files cannot be told apart or claim one rank; `usage` for a map that does not fit.
[[nodiscard]] Result<std::vector<RankId>> assign_ranks(std::span<const RankEvidence> files,
                                                       const ImportOptions& options, Quality& quality);

}  // namespace rankscope::analyzer::kineto
