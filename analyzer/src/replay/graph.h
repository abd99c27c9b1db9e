// What a run did as a graph of work and of what each piece of work had to wait for (metrics.md 12.1, 12.2).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::replay {

inline constexpr std::uint32_t no_row = 0xFFFFFFFF;

/// What an item is; a fix may mean all of one kind.
enum class Work : std::uint8_t {
  compute,   ///< kernel; on a CPU rank operators, forward, backward, optimizer
  memory,    ///< copy or memset
  transfer,  ///< what a member of a collective does once it waits for nobody any more
  host,      ///< a host thread, outside of what follows
  data,      ///< a host thread in its loader
  delay,     ///< between the end of all that it waits for and the start
};
inline constexpr std::size_t work_count = 6;
[[nodiscard]] std::string_view name_of(Work work);

/// The least that can become faster or slower: the own time of one span in one step of one rank.
struct Item {
  std::uint32_t rank = 0;  ///< row of Graph::ranks
  std::uint32_t step = 0;  ///< row of Graph::steps
  Work work = Work::host;
  SpanId span{};        ///< none: host time outside of all spans
  std::int64_t ns = 0;  ///< as measured
};

/// A stretch of a node that belongs to one item. An item may have pieces in several nodes.
struct Piece {
  std::uint32_t item = 0;
  std::int64_t ns = 0;
};

enum class NodeKind : std::uint8_t {
  anchor,    ///< where the graph of a rank begins; its time is given
  segment,   ///< a host thread runs
  resume,    ///< a host thread goes on after it was blocked
  activity,  ///< work on a stream
  arrive,    ///< a member starts a collective
  meet,      ///< all members of a collective have started
  finish,    ///< a member has what it needs and moves data until it ends
  boundary,  ///< a step of a rank begins (metrics.md 1.2), or the last one ends
};

/// Starts when all predecessors have ended and its delay has passed; takes as long as its pieces together.
struct Node {
  NodeKind kind = NodeKind::segment;
  std::uint32_t rank = no_row;  ///< row of Graph::ranks; of a meeting: none
  LaneId lane{};                ///< none: boundary, meeting
  SpanId span{};                ///< of an activity or member
  RunTime start;                ///< as measured
  RunTime end;
  RunTime floor = RunTime::min();  ///< never ends earlier: what lies outside of the graph held it up until then
  std::uint32_t delay_item = no_row;
  std::uint32_t first_piece = 0;
  std::uint32_t pieces = 0;
  std::uint32_t first_pred = 0;
  std::uint32_t preds = 0;
};

enum class EdgeKind : std::uint8_t {
  order,      ///< the same thread, stream or lane before
  launch,     ///< the host call that enqueued it
  host_wait,  ///< what a blocked host thread waited for
  nearby,     ///< work of another stream that ended just before; nobody recorded a wait
  member,     ///< a member of the same collective
  boundary,
};

struct Pred {
  std::uint32_t node = 0;
  EdgeKind kind = EdgeKind::order;
};

/// What had to be guessed or left out; all counts are of nodes.
struct Doubts {
  std::int64_t nearby = 0;           ///< dependencies between streams that were inferred
  std::int64_t late_causes = 0;      ///< causes that ended after what they caused began; left out
  std::int64_t unsplit_members = 0;  ///< members whose partners are not known: they keep their measured end
  std::int64_t absent_partners = 0;  ///< of these: a rank that took part was not recorded
  bool has_streams = false;
  bool operator==(const Doubts&) const = default;
};

/// One step of the job in the graph.
struct GraphStep {
  std::int64_t index = 0;
  std::int64_t measured_ns = 0;
};

/// Nodes are in topological order: one pass computes all times.
struct Graph {
  const Run* run = nullptr;
  std::vector<RankId> ranks;       ///< ascending
  std::vector<RunTime> host_ends;  ///< parallel: when the last recorded event of the rank's threads ended
  std::vector<GraphStep> steps;    ///< consecutive
  bool whole_recording = false;    ///< no steps are known: all is one
  std::vector<Item> items;         ///< by (rank, first piece)
  std::vector<Node> nodes;
  std::vector<Piece> pieces;  ///< by node
  std::vector<Pred> preds;    ///< by node
  /// boundaries[step * ranks + rank]: where a step begins; one more row: where the last one ends.
  std::vector<std::uint32_t> boundaries;
  Doubts doubts;

  [[nodiscard]] std::span<const Piece> pieces_of(const Node& node) const {
    return std::span(pieces).subspan(node.first_piece, node.pieces);
  }
  [[nodiscard]] std::span<const Pred> preds_of(const Node& node) const {
    return std::span(preds).subspan(node.first_pred, node.preds);
  }
};

}  // namespace rankscope::analyzer::replay
