// What record says last: how the command ended, and which rank stopped first.
#pragma once

#include <span>
#include <string>

#include "launch/end_watch.h"
#include "rankscope/collectors/record.h"
#include "rankscope/core/recording/live.h"

namespace rankscope::collectors {

/// Of a rank, as far as it is known how its process ended.
struct RankEnd {
  std::int32_t rank = 0;
  ProcessEnd end;
  std::string how;           ///< "was killed by SIGKILL", "exited with status 1"
  std::string signal{};      ///< "SIGKILL"; empty: it was none, or is not known
  std::uint64_t steps = 0;   ///< that it finished; 0: none, or not known
  std::int64_t in_step = 0;  ///< the step after these; only if `steps` is not 0
  nanoseconds no_step{0};    ///< before its end, in which no rank finished a step, if that is unusually long; else 0
};

/// Ranks whose processes ended otherwise than they should, the first one first. `view` is of the gathered recording; if
/// it does not show everything, no row has steps, since more of them may have ended. `unix_minus_host`: the time
/// since 1970 minus the clock of the host.
[[nodiscard]] std::vector<RankEnd> bad_ends(std::span<const ProcessEnd> ends, const recording::LiveView& view,
                                            nanoseconds unix_minus_host);

/// "the command ended with status 1; rank 1 ended first: it was killed by SIGKILL 12.3 s after it started, in step 14
/// (pid 4711 on host n0)"; empty if the status is 0. If no rank had finished a step for long, the launcher may have
/// ended the first one, so the note says how long that was. `stopped_by`: the signal with which the job was asked to
/// end. `oom_kills`: what oom_kills_between() found; named if the first rank was killed by SIGKILL.
[[nodiscard]] std::string end_note(int status, std::string_view stopped_by, std::span<const RankEnd> ends,
                                   std::string_view oom_kills = {});

/// For the manifest, so that reports name the signals and judge who ended first: "ended_by.rank1" is "SIGKILL", and
/// "end_seen.rank1" lists the ends of its processes. "oom_kills.rank1" is `oom_kills` if SIGKILL ended the rank.
void add_ends(std::span<const RankEnd> ends, std::string_view oom_kills, RecordSummary& summary);

}  // namespace rankscope::collectors
