// What of a rank enters the graph, and where its host threads must be cut.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "collectives/find.h"
#include "replay/graph.h"
#include "replay/rank_graph.h"

namespace rankscope::analyzer::replay {

/// From `begin` until the next stretch begins.
struct Stretch {
  RunTime begin;
  SpanId span{};  ///< innermost; none: outside of all
  Work work = Work::host;
  bool idle = true;  ///< in nothing but annotations
};

/// What the time on a host thread counts as: on a rank without accelerator the thread itself computes.
enum class HostRole : std::uint8_t { feeds_accelerator, computes };

/// Ascending, without gaps; the last one lasts for ever. Before the first one the thread is nowhere.
[[nodiscard]] std::vector<Stretch> stretches_of(const Run& run, const Lane& lane, HostRole role);

/// True for spans in which the thread stands still until something else is done.
[[nodiscard]] bool is_blocked(const Run& run, const Span& span);

/// Something on a stream or communication lane.
struct Task {
  SpanId span;
  TimeRange time;
  LaneId launched_on{};       ///< none: not recorded
  RunTime launched;           ///< when the host asked for it
  bool communicates = false;  ///< a member of a collective of several ranks, or one that is not known
};

/// A stretch in which a host thread stands still.
struct Block {
  TimeRange time;
  SpanId span{};           ///< none: it waits for another thread, or for a collective on a helper thread
  LaneId other{};          ///< the other thread, and until when it is awaited
  RunTime other_done{};    ///< only with `other`
  bool is_member = false;  ///< the thread executes a collective itself
};

struct ThreadPlan {
  LaneId lane;
  std::vector<Stretch> stretches;
  std::vector<RunTime> cuts;  ///< ascending, each once
  std::vector<Block> blocks;  ///< ascending, disjoint
};

struct QueuePlan {
  LaneId lane;
  std::vector<Task> tasks;  ///< by begin
};

struct RankPlan {
  TimeRange time;  ///< from the first mark to the end of the last step
  bool has_accelerator = false;
  std::vector<ThreadPlan> threads;  ///< the one with the marks first
  std::vector<QueuePlan> queues;    ///< streams, communication lanes, and helper threads that run collectives
};

[[nodiscard]] RankPlan plan_rank(const Run& run, RankId rank, const RankSteps& steps);

}  // namespace rankscope::analyzer::replay
