#include "scaling/step_system.h"

#include <algorithm>
#include <map>

namespace rankscope::analyzer::scaling {
namespace {

using replay::Graph;
using replay::no_row;
using replay::Node;
using replay::NodeKind;

/// Nodes of one rank with the step in which they start.
struct RankNodes {
  std::vector<std::uint32_t> nodes;  // in topological order
  std::vector<std::uint32_t> steps;  // parallel
};

std::vector<RankNodes> nodes_by_rank(const Graph& graph) {
  std::vector<RankNodes> ranks(graph.ranks.size());
  std::vector<std::vector<RunTime>> begins(graph.ranks.size());
  for (std::size_t step = 0; step < graph.steps.size(); ++step)
    for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank)
      begins[rank].push_back(graph.nodes[graph.boundaries[step * graph.ranks.size() + rank]].start);
  for (std::uint32_t row = 0; row < graph.nodes.size(); ++row) {
    const Node& node = graph.nodes[row];
    if (node.rank == no_row || node.kind == NodeKind::anchor || node.kind == NodeKind::boundary) continue;
    const auto after = std::ranges::upper_bound(begins[node.rank], node.start);
    const auto step = after == begins[node.rank].begin() ? 0 : after - begins[node.rank].begin() - 1;
    ranks[node.rank].nodes.push_back(row);
    ranks[node.rank].steps.push_back(static_cast<std::uint32_t>(step));
  }
  return ranks;
}

/// Longest ways inside one step of one rank.
class Reduction {
 public:
  Reduction(const Graph& graph, std::uint32_t rank, std::uint32_t step, std::vector<std::uint32_t>& place)
      : graph_(graph), place_(place) {
    system_.rank = rank;
    system_.step = step;
    begin_ = graph.nodes[graph.boundaries[step * graph.ranks.size() + rank]].start;
    end_row_ = graph.boundaries[(step + 1) * graph.ranks.size() + rank];
  }

  StepSystem reduce(std::span<const std::uint32_t> nodes) {
    for (std::uint32_t i = 0; i < nodes.size(); ++i) place_[nodes[i]] = i;
    ways_.assign(nodes.size(), {});
    for (std::uint32_t i = 0; i < nodes.size(); ++i) visit(i, graph_.nodes[nodes[i]]);
    std::vector<std::int64_t> end = ways_to(graph_.nodes[end_row_]);
    end.resize(system_.units.size() + 1, never);
    if (std::ranges::all_of(end, [](std::int64_t way) { return way == never; }))
      end[0] = (graph_.nodes[end_row_].start - begin_).count();
    system_.ways_ns.insert(system_.ways_ns.end(), end.begin(), end.end());
    for (const std::uint32_t row : nodes) place_[row] = no_row;
    return std::move(system_);
  }

 private:
  /// Ways to the start of a node, over its predecessors on the same rank.
  [[nodiscard]] std::vector<std::int64_t> ways_to(const Node& node) const {
    std::vector<std::int64_t> ways;
    for (const replay::Pred& pred : graph_.preds_of(node)) {
      const Node& before = graph_.nodes[pred.node];
      if (before.rank != node.rank) continue;  // a member of a collective: its meeting is modelled
      const std::uint32_t at = place_[pred.node];
      if (at == no_row) {
        raise(ways, 0, (before.end - begin_).count());  // it ended before the step began, or so
        continue;
      }
      for (std::size_t column = 0; column < ways_[at].size(); ++column) raise(ways, column, ways_[at][column]);
    }
    return ways;
  }

  static void raise(std::vector<std::int64_t>& ways, std::size_t column, std::int64_t ns) {
    if (ways.size() <= column) ways.resize(column + 1, never);
    ways[column] = std::max(ways[column], ns);
  }

  void visit(std::uint32_t at, const Node& node) {
    std::vector<std::int64_t> ways = ways_to(node);
    if (ways.empty()) raise(ways, 0, (node.start - begin_).count());
    std::int64_t length = 0;
    if (node.delay_item != no_row) length += graph_.items[node.delay_item].ns;
    for (const replay::Piece& piece : graph_.pieces_of(node)) length += piece.ns;
    if (node.kind == NodeKind::arrive) {
      for (std::int64_t& way : ways)
        if (way != never) way += length;
      ways.resize(system_.units.size() + 1, never);
      system_.ways_ns.insert(system_.ways_ns.end(), ways.begin(), ways.end());
      system_.units.push_back(unit_of(node));
      system_.transfers_ns.push_back(0);
      unit_at_[node.span] = system_.units.size() - 1;
    } else if (const auto unit = unit_at_.find(node.span); node.kind == NodeKind::finish && unit != unit_at_.end()) {
      system_.transfers_ns[unit->second] = length;
      ways.assign(unit->second + 2, never);
      ways.back() = 0;
    } else {
      for (std::int64_t& way : ways)
        if (way != never) way += length;
    }
    ways_[at] = std::move(ways);
  }

  [[nodiscard]] StepUnit unit_of(const Node& node) const {
    const std::uint32_t row = graph_.run->span(node.span).collective;
    if (row == Span::no_collective) return {};
    const Collective& collective = graph_.run->collectives()[row];
    return {collective.op, collective.bytes};
  }

  const Graph& graph_;
  std::vector<std::uint32_t>& place_;  // of the nodes of this step; no_row: of none
  StepSystem system_;
  RunTime begin_;
  std::uint32_t end_row_ = no_row;
  std::vector<std::vector<std::int64_t>> ways_;  // to the end of each node
  std::map<SpanId, std::size_t> unit_at_;
};

std::string why_not_all_together(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::arrive) continue;
    const std::uint32_t row = graph.run->span(node.span).collective;
    if (row == Span::no_collective) return "some communication was not matched between the ranks";
    const Collective& collective = graph.run->collectives()[row];
    const auto& members = graph.run->groups()[collective.group.index()].members;
    if (members.size() != graph.ranks.size())
      return "some collectives are of a part of the ranks only; predicted are jobs whose collectives are of all ranks "
             "(data parallelism)";
  }
  return {};
}

}  // namespace

Section<std::vector<StepSystem>> step_systems(const Graph& graph) {
  if (std::string why = why_not_all_together(graph); !why.empty()) return unavailable(std::move(why));
  std::vector<StepSystem> systems;
  std::vector<std::uint32_t> place(graph.nodes.size(), no_row);
  const std::vector<RankNodes> ranks = nodes_by_rank(graph);
  for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
    std::vector<std::vector<std::uint32_t>> by_step(graph.steps.size());
    for (std::size_t i = 0; i < ranks[rank].nodes.size(); ++i)
      by_step[ranks[rank].steps[i]].push_back(ranks[rank].nodes[i]);
    for (std::uint32_t step = 0; step < by_step.size(); ++step)
      systems.push_back(Reduction(graph, rank, step, place).reduce(by_step[step]));
  }
  return systems;
}

std::int64_t step_length(std::span<const StepSystem* const> ranks, std::span<const double> factors,
                         std::span<const std::int64_t> transfers_ns) {
  const std::size_t units = transfers_ns.size();
  std::vector<double> ends(units);
  double latest = 0;
  for (std::size_t unit = 0; unit <= units; ++unit) {
    double go = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto ways = ranks[rank]->row(unit);
      for (std::size_t from = 0; from < ways.size(); ++from) {
        if (ways[from] == never) continue;
        const double before = from == 0 ? 0 : ends[from - 1];
        go = std::max(go, before + factors[rank] * static_cast<double>(ways[from]));
      }
    }
    if (unit < units) ends[unit] = go + static_cast<double>(transfers_ns[unit]);
    latest = go;
  }
  return static_cast<std::int64_t>(latest);
}

}  // namespace rankscope::analyzer::scaling
