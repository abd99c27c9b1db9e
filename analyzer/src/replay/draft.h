// A graph while it is put together: nodes in any order, with the edges between them.
#pragma once

#include <span>
#include <vector>

#include "rankscope/core/result.h"
#include "replay/graph.h"

namespace rankscope::analyzer::replay {

struct DraftEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  EdgeKind kind = EdgeKind::order;
};

/// A member of a collective in the graph.
struct DraftMember {
  std::uint32_t arrive = no_row;
  std::uint32_t finish = no_row;
};

class Draft {
 public:
  explicit Draft(const Run& run);

  /// Its pieces must be added before the next node is.
  std::uint32_t add_node(const Node& node);
  void add_piece(std::uint32_t item, std::int64_t ns);
  std::uint32_t add_item(const Item& item);
  /// Left out, and counted, if the cause ended after what it caused began.
  void add_cause(std::uint32_t from, std::uint32_t to, EdgeKind kind);
  /// For edges between ranks, whose clocks may differ.
  void add_edge(std::uint32_t from, std::uint32_t to, EdgeKind kind) { edges_.push_back({from, to, kind}); }

  [[nodiscard]] Node& node(std::uint32_t row) { return graph_.nodes[row]; }
  /// Partners of this member are not known, so nothing tells that it could end earlier.
  void hold(std::uint32_t finish);
  [[nodiscard]] std::uint32_t node_count() const { return static_cast<std::uint32_t>(graph_.nodes.size()); }
  [[nodiscard]] DraftMember& member(std::uint32_t collective) { return members_[collective]; }
  [[nodiscard]] Graph& graph() { return graph_; }
  [[nodiscard]] std::span<const DraftEdge> edges() const { return edges_; }

  /// Sorts it. Fails if the dependencies go round in a circle.
  [[nodiscard]] Result<Graph> finish() &&;

 private:
  [[nodiscard]] std::vector<std::uint32_t> topological_order() const;
  void renumber(std::span<const std::uint32_t> order);
  void index_edges();

  Graph graph_;
  std::vector<DraftEdge> edges_;
  std::vector<DraftMember> members_;  // by row of Run::collectives()
};

}  // namespace rankscope::analyzer::replay
