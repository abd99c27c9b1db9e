// Which process is which rank. A rank is a process, not a file: one report can hold many, and their order means
// nothing.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "importers/nsys/nvtx.h"
#include "importers/nsys/system.h"
#include "importers/shared/importer.h"

namespace rankscope::analyzer::nsys {

/// What is known of one file before any event is read.
struct FileFacts {
  const Database& database;
  const Census& census;
  const Session& session;
  std::vector<Joined> joined{};
};

struct RankFound {
  RankId rank{};
  std::string_view source{};  ///< the evidence, for the user
};

struct RankPlan {
  std::vector<std::map<ProcessKey, RankFound>> files{};  ///< parallel to the files; helpers of a program have no rank
  std::uint64_t guessed = 0;                             ///< ranks that no evidence but the device tells
  std::int64_t world_size = 0;                           ///< 0: nobody told
};

/// Evidence in this order: --rank-map (FILE=R, or FILE:PID=R where a file holds several processes), communicators, MPI,
/// launcher variables, file names, one process per device. `usage` for a map that does not fit; `unreadable`, naming
/// the processes, where processes cannot be told apart or two claim one rank.
[[nodiscard]] Result<RankPlan> assign_ranks(std::span<const FileFacts> files, const ImportOptions& options);

}  // namespace rankscope::analyzer::nsys
