#include "replay/draft.h"

#include <algorithm>
#include <utility>

#include "collectives/comm_ops.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer::replay {

std::string_view name_of(Work work) {
  switch (work) {
    case Work::compute:
      return "compute";
    case Work::memory:
      return "memory";
    case Work::transfer:
      return "comm";
    case Work::host:
      return "host";
    case Work::data:
      return "data";
    case Work::delay:
      return "delay";
  }
  return "?";
}

Draft::Draft(const Run& run) : members_(run.collectives().size()) { graph_.run = &run; }

std::uint32_t Draft::add_node(const Node& node) {
  graph_.nodes.push_back(node);
  graph_.nodes.back().first_piece = static_cast<std::uint32_t>(graph_.pieces.size());
  graph_.nodes.back().pieces = 0;
  return node_count() - 1;
}

void Draft::add_piece(std::uint32_t item, std::int64_t ns) {
  graph_.pieces.push_back({item, ns});
  ++graph_.nodes.back().pieces;
  graph_.items[item].ns += ns;
}

namespace {

bool is_recorded(const Run& run, RankId rank) { return std::ranges::binary_search(run.ranks(), rank); }

/// True if a rank that took part is not in the recording. Where nobody tells who did, a single rank has no partner in
/// it.
bool misses_partners(const Run& run, const Span& span) {
  if (span.collective == Span::no_collective) return run.ranks().size() < 2;
  const Collective& own = run.collectives()[span.collective];
  if (is_point_to_point(run.text(own.op)) && own.peer >= 0)
    return !is_recorded(run, RankId{static_cast<std::uint32_t>(own.peer)});
  if (!own.group.is_set()) return run.ranks().size() < 2;
  const Group& group = run.groups()[own.group.index()];
  return std::ranges::any_of(group.members, [&run](RankId rank) { return !is_recorded(run, rank); });
}

}  // namespace

void Draft::hold(std::uint32_t finish) {
  if (misses_partners(*graph_.run, graph_.run->span(graph_.nodes[finish].span))) ++graph_.doubts.absent_partners;
  graph_.nodes[finish].floor = graph_.nodes[finish].end;
  ++graph_.doubts.unsplit_members;
}

std::uint32_t Draft::add_item(const Item& item) {
  graph_.items.push_back(item);
  return static_cast<std::uint32_t>(graph_.items.size()) - 1;
}

void Draft::add_cause(std::uint32_t from, std::uint32_t to, EdgeKind kind) {
  if (from == no_row || from == to) return;
  if (graph_.nodes[from].end > graph_.nodes[to].start) {
    ++graph_.doubts.late_causes;
    return;
  }
  add_edge(from, to, kind);
}

std::vector<std::uint32_t> Draft::topological_order() const {
  std::vector<std::uint32_t> first(graph_.nodes.size() + 1, 0);  // of the successors of each node
  std::vector<std::uint32_t> open(graph_.nodes.size(), 0);
  for (const DraftEdge& edge : edges_) {
    ++first[edge.from + 1];
    ++open[edge.to];
  }
  for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  std::vector<std::uint32_t> successors(edges_.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (const DraftEdge& edge : edges_) successors[next[edge.from]++] = edge.to;
  std::vector<std::uint32_t> order;
  order.reserve(graph_.nodes.size());
  for (std::uint32_t row = 0; row < open.size(); ++row)
    if (open[row] == 0) order.push_back(row);
  for (std::size_t done = 0; done < order.size(); ++done) {
    const std::uint32_t row = order[done];
    for (std::uint32_t i = first[row]; i < first[row + 1]; ++i)
      if (--open[successors[i]] == 0) order.push_back(successors[i]);
  }
  return order;
}

void Draft::renumber(std::span<const std::uint32_t> order) {
  std::vector<std::uint32_t> place(order.size());
  std::vector<Node> nodes;
  std::vector<Piece> pieces;
  nodes.reserve(order.size());
  pieces.reserve(graph_.pieces.size());
  for (const std::uint32_t row : order) {
    place[row] = static_cast<std::uint32_t>(nodes.size());
    Node node = graph_.nodes[row];
    const auto own = graph_.pieces_of(node);
    node.first_piece = static_cast<std::uint32_t>(pieces.size());
    pieces.insert(pieces.end(), own.begin(), own.end());
    nodes.push_back(node);
  }
  graph_.nodes = std::move(nodes);
  graph_.pieces = std::move(pieces);
  for (DraftEdge& edge : edges_) edge = {place[edge.from], place[edge.to], edge.kind};
  for (std::uint32_t& row : graph_.boundaries)
    if (row != no_row) row = place[row];
}

void Draft::index_edges() {
  for (const DraftEdge& edge : edges_) ++graph_.nodes[edge.to].preds;
  std::uint32_t first = 0;
  for (Node& node : graph_.nodes) {
    node.first_pred = first;
    first += std::exchange(node.preds, 0);
  }
  graph_.preds.resize(edges_.size());
  for (const DraftEdge& edge : edges_) {
    Node& node = graph_.nodes[edge.to];
    graph_.preds[node.first_pred + node.preds++] = {edge.from, edge.kind};
  }
}

Result<Graph> Draft::finish() && {
  const std::vector<std::uint32_t> order = topological_order();
  if (order.size() != graph_.nodes.size())
    return fail(ErrorKind::unreadable, "the operations wait for each other in a cycle, so some are matched wrongly");
  renumber(order);
  index_edges();
  return std::move(graph_);
}

}  // namespace rankscope::analyzer::replay
