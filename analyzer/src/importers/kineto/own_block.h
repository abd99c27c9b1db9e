// The block "rankscope" of a trace that `export --to kineto` wrote: what Kineto has no place for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::kineto {

using Facts = std::vector<std::pair<std::string, std::string>>;

/// A row of the timeline, by the pid and tid that its events carry.
struct OwnLane {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  LaneKind kind = LaneKind::thread;
  std::string name;
};

/// A row of Run::collectives(). Lanes and groups are places in lists of the file, -1 = none; times are those of the
/// file.
struct OwnCollective {
  std::string op;
  std::string dtype;
  std::int64_t group = -1;
  std::int64_t sequence = -1;
  std::int64_t bytes = -1;
  std::int64_t peer = -1;
  CommState state = CommState::finished;
  RunTime enqueued{};
  RunTime started{};
  RunTime finished{};
  std::int64_t lane = -1;
  std::int64_t enqueued_on = -1;
  bool has_span = false;
};

/// What only exports of runs hold that are no Kineto traces themselves.
struct OwnRows {
  ClockInfo clock;
  std::vector<OwnLane> lanes;
  std::vector<std::optional<OwnCollective>> collectives;  ///< by row; nothing for one that cannot be used
  std::int64_t zero_ns = 0;                               ///< run time of ts 0
  std::int64_t local_rank = -1;
  TimeRange recorded{};
  Ending ending = Ending::unknown;
  std::int64_t exit_status = 0;
};

struct OwnBlock {
  Facts process;  ///< metadata of the process
  Facts run;      ///< metadata of the run
  Facts quality;  ///< counters by name
  std::vector<QualityPlace> places;
  std::optional<std::int64_t> pid;
  std::string host;
  std::string program;
  std::string source;  ///< of the run that was exported: one that the analyses know, or empty
  std::optional<OwnRows> rows;
};

/// Nothing for a block of another schema than this one. Values that are none of ours are skipped.
inline constexpr std::string_view own_schema = "rankscope.kineto/1";
[[nodiscard]] std::optional<OwnBlock> own_block_from(std::string_view object);

/// The members of an object, as texts.
[[nodiscard]] Facts facts_from(std::string_view object);

}  // namespace rankscope::analyzer::kineto
