// The part of the graph that one rank makes: its threads, streams and communication lanes.
#pragma once

#include "collectives/find.h"
#include "replay/draft.h"

namespace rankscope::analyzer::replay {

/// Where the steps of a rank begin on the host, and what they are.
struct RankSteps {
  std::vector<RunTime> marks;       ///< begin of each step on the main thread; the last entry ends the last one
  std::vector<RunTime> boundaries;  ///< the same with the work of the device (metrics.md 1.2)
  LaneId thread{};                  ///< of the marks; none: they lie on no thread
};

/// Which of the intervals between two borders holds a time; the first or the last one for what lies outside.
[[nodiscard]] std::uint32_t interval_at(std::span<const RunTime> borders, RunTime time);

/// Adds the nodes of a rank from the first of its steps to the last one, and the edges between them.
/// Members of collectives are left for add_meetings.
void add_rank(Draft& draft, const Matching& matching, std::uint32_t rank_row, const RankSteps& steps);

/// Joins the members of each operation (metrics.md 12.2).
void add_meetings(Draft& draft, const Matching& matching);

}  // namespace rankscope::analyzer::replay
