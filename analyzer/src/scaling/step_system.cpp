#include "scaling/step_system.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>

#include "collectives/comm_ops.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "scaling/transfer_fit.h"

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

/// Nodes without length at the very moment at which a step ends, and which it waits for: they are a part of it.
std::vector<bool> ends_of_steps(const Graph& graph) {
  std::vector<bool> ends(graph.nodes.size());
  for (const std::uint32_t row : graph.boundaries)
    for (const replay::Pred& pred : graph.preds_of(graph.nodes[row]))
      ends[pred.node] = ends[pred.node] || graph.nodes[pred.node].start == graph.nodes[row].start;
  return ends;
}

std::vector<RankNodes> nodes_by_rank(const Graph& graph) {
  const std::vector<bool> ends = ends_of_steps(graph);
  std::vector<RankNodes> ranks(graph.ranks.size());
  std::vector<std::vector<RunTime>> begins(graph.ranks.size());
  for (std::size_t step = 0; step < graph.steps.size(); ++step)
    for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank)
      begins[rank].push_back(graph.nodes[graph.boundaries[step * graph.ranks.size() + rank]].start);
  for (std::uint32_t row = 0; row < graph.nodes.size(); ++row) {
    const Node& node = graph.nodes[row];
    if (node.rank == no_row || node.kind == NodeKind::anchor || node.kind == NodeKind::boundary) continue;
    const auto after = std::ranges::upper_bound(begins[node.rank], node.start);
    auto step = after == begins[node.rank].begin() ? 0 : after - begins[node.rank].begin() - 1;
    if (step > 0 && ends[row] && node.start == *(after - 1)) --step;
    ranks[node.rank].nodes.push_back(row);
    ranks[node.rank].steps.push_back(static_cast<std::uint32_t>(step));
  }
  return ranks;
}

using OperationRows = std::vector<std::uint32_t>;

/// Which row of the section's operations each row of Run::collectives() is a part of.
OperationRows operations_by_member(const Graph& graph, const CollectivesSection& section) {
  OperationRows operations(graph.run->collectives().size(), no_row);
  for (std::uint32_t operation = 0; operation < section.operations.size(); ++operation)
    for (const std::uint32_t row : section.operations[operation].members) operations[row] = operation;
  return operations;
}

/// The operations of one step of one rank in the order in which their last members started. That is the same on all
/// ranks, and no rank goes from an operation to one that comes before it there (each waits for its last member).
OperationRows order_of(const Graph& graph, const CollectivesSection& section, const OperationRows& operation_of,
                       std::span<const std::uint32_t> nodes) {
  OperationRows order;
  for (const std::uint32_t row : nodes)
    if (graph.nodes[row].kind == NodeKind::arrive)
      order.push_back(operation_of[graph.run->span(graph.nodes[row].span).collective]);
  std::ranges::sort(order, {}, [&](std::uint32_t operation) {
    return std::pair(section.operations[operation].last_start, operation);
  });
  return order;
}

/// Way from the begin to the end of a step with nothing but this rank's own work.
double own_time(const StepSystem& system) {
  const StepSystem* const one = &system;
  const double factor = 1;
  const std::vector<std::int64_t> no_transfers(system.operations.size(), 0);
  return static_cast<double>(step_length({&one, 1}, {&factor, 1}, no_transfers));
}

/// A step of one rank, and what of the section it runs.
struct RankStep {
  std::uint32_t rank = 0;
  std::uint32_t step = 0;
  std::span<const std::uint32_t> nodes;
  std::span<const std::uint32_t> order;  ///< its operations
};

/// Longest ways inside one step of one rank.
class Reduction {
 public:
  Reduction(const Graph& graph, const CollectivesSection& section, const OperationRows& operation_of,
            std::vector<std::uint32_t>& place, const RankStep& work)
      : graph_(graph), place_(place), nodes_(work.nodes) {
    system_.rank = work.rank;
    system_.step = work.step;
    for (const std::uint32_t operation : work.order) {
      at_of_operation_[operation] = system_.operations.size();
      system_.operations.push_back({section.operations[operation].op, section.operations[operation].bytes});
    }
    const std::size_t operations = work.order.size();
    system_.transfers_ns.assign(operations, 0);
    system_.ways_ns.assign((operations + 1) * (operations + 2) / 2, never);
    for (const std::uint32_t row : nodes_)
      if (graph.nodes[row].kind == NodeKind::arrive)
        operation_at_[graph.nodes[row].span] =
            at_of_operation_[operation_of[graph.run->span(graph.nodes[row].span).collective]];
    const std::uint32_t rank = work.rank;
    const std::uint32_t step = work.step;
    begin_ = graph.nodes[graph.boundaries[step * graph.ranks.size() + rank]].start;
    end_row_ = graph.boundaries[(step + 1) * graph.ranks.size() + rank];
  }

  /// Nothing where an operation waits for one that comes later in the order.
  std::optional<StepSystem> reduce() {
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) place_[nodes_[i]] = i;
    ways_.assign(nodes_.size(), {});
    for (std::uint32_t i = 0; i < nodes_.size(); ++i) visit(i, graph_.nodes[nodes_[i]]);
    std::vector<std::int64_t> end = ways_to(graph_.nodes[end_row_]);
    if (std::ranges::all_of(end, [](std::int64_t way) { return way == never; }))
      raise(end, 0, (graph_.nodes[end_row_].start - begin_).count());
    put(system_.operations.size(), end);
    for (const std::uint32_t row : nodes_) place_[row] = no_row;
    if (!in_order_) return std::nullopt;
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

  /// Row `operation` of the system.
  void put(std::size_t operation, std::span<const std::int64_t> ways) {
    const std::span row = std::span(system_.ways_ns).subspan(operation * (operation + 1) / 2, operation + 1);
    for (std::size_t column = 0; column < ways.size(); ++column) {
      if (column < row.size()) row[column] = ways[column];
      if (column >= row.size() && ways[column] != never) in_order_ = false;
    }
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
      put(operation_at_.at(node.span), ways);
    } else if (const auto operation = operation_at_.find(node.span);
               node.kind == NodeKind::finish && operation != operation_at_.end()) {
      system_.transfers_ns[operation->second] = length;
      ways.assign(operation->second + 2, never);
      ways.back() = 0;
    } else {
      for (std::int64_t& way : ways)
        if (way != never) way += length;
    }
    ways_[at] = std::move(ways);
  }

  const Graph& graph_;
  std::vector<std::uint32_t>& place_;  // of the nodes of this step; no_row: of none
  std::span<const std::uint32_t> nodes_;
  StepSystem system_;
  bool in_order_ = true;
  RunTime begin_;
  std::uint32_t end_row_ = no_row;
  std::vector<std::vector<std::int64_t>> ways_;  // to the end of each node
  std::map<std::uint32_t, std::size_t> at_of_operation_;
  std::map<SpanId, std::size_t> operation_at_;
};

/// All steps: which operations each rank runs in them.
class Steps {
 public:
  Steps(const Graph& graph, const CollectivesSection& section)
      : graph_(graph),
        section_(section),
        operation_of_(operations_by_member(graph, section)),
        place_(graph.nodes.size(), no_row),
        nodes_(graph.steps.size(), std::vector<std::vector<std::uint32_t>>(graph.ranks.size())) {
    const std::vector<RankNodes> ranks = nodes_by_rank(graph);
    for (std::uint32_t rank = 0; rank < ranks.size(); ++rank)
      for (std::size_t i = 0; i < ranks[rank].nodes.size(); ++i)
        nodes_[ranks[rank].steps[i]][rank].push_back(ranks[rank].nodes[i]);
  }

  StepSystems reduce() {
    std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> kinds;  // row of operations: steps
    std::vector<OperationRows> orders;
    for (std::uint32_t step = 0; step < nodes_.size(); ++step) {
      orders.push_back(order_of(graph_, section_, operation_of_, nodes_[step].front()));
      if (same_on_all(step, orders.back())) kinds[ops_of(orders.back())].push_back(step);
    }
    const auto best = std::ranges::max_element(kinds, {}, [](const auto& kind) { return kind.second.size(); });
    StepSystems result;
    for (const auto& [ops, steps] : kinds) result.other += std::ssize(steps);
    if (best != kinds.end()) {
      result.other -= std::ssize(best->second);
      const std::size_t operations = best->first.size();
      const std::size_t ways = (operations + 1) * (operations + 2) / 2 * best->second.size() * graph_.ranks.size();
      keep_one_in_ = (ways + most_ways - 1) / most_ways;
      for (const std::uint32_t step : best->second) add(result, step, orders[step]);
    }
    result.uneven = std::ssize(nodes_) - result.other - result.steps;
    std::ranges::sort(result.systems, {}, [](const StepSystem& own) { return std::pair(own.rank, own.step); });
    return result;
  }

 private:
  [[nodiscard]] bool same_on_all(std::uint32_t step, const OperationRows& order) const {
    return std::ranges::all_of(
        nodes_[step], [&](const auto& nodes) { return order_of(graph_, section_, operation_of_, nodes) == order; });
  }

  [[nodiscard]] std::vector<std::uint32_t> ops_of(const OperationRows& order) const {
    std::vector<std::uint32_t> ops;
    for (const std::uint32_t operation : order) ops.push_back(section_.operations[operation].op.value);
    return ops;
  }

  void add(StepSystems& result, std::uint32_t step, const OperationRows& order) {
    std::vector<StepSystem> own;
    for (std::uint32_t rank = 0; rank < graph_.ranks.size(); ++rank) {
      auto system =
          Reduction(graph_, section_, operation_of_, place_, {rank, step, nodes_[step][rank], order}).reduce();
      if (!system) return;
      system->own_ns = own_time(*system);
      // Neighbouring steps keep other ranks, so that all are heard.
      if ((static_cast<std::size_t>(result.steps) + rank) % keep_one_in_ != 0) system->ways_ns = {};
      own.push_back(std::move(*system));
    }
    ++result.steps;
    std::ranges::move(own, std::back_inserter(result.systems));
  }

  const Graph& graph_;
  const CollectivesSection& section_;
  const OperationRows operation_of_;
  std::vector<std::uint32_t> place_;                            // of each node in what is reduced; else no_row
  std::vector<std::vector<std::vector<std::uint32_t>>> nodes_;  // by step and rank
  std::size_t keep_one_in_ = 1;
};

std::string why_too_many(const Graph& graph) {
  std::vector<std::size_t> operations(graph.ranks.size());
  for (const Node& node : graph.nodes)
    if (node.kind == NodeKind::arrive) ++operations[node.rank];
  const std::size_t in_a_step = std::ranges::max(operations) / graph.steps.size();
  if (in_a_step <= most_operations) return {};
  return format("a step has about {} collectives; only steps with up to {} can be predicted", in_a_step,
                most_operations);
}

/// Why nothing tells how this member's operation goes on more ranks; empty if something does.
std::string why_not_scaled(const Graph& graph, const Matching& matching, const Node& node) {
  const Run& run = *graph.run;
  const std::uint32_t row = run.span(node.span).collective;
  if (row == Span::no_collective) return "some communication was not matched across the ranks";
  const Collective& collective = run.collectives()[row];
  const std::string_view op = collective.op.is_set() ? run.text(collective.op) : "an operation without a name";
  if (is_point_to_point(op))
    return format(
        "{} connects only two ranks (a pipeline); only jobs whose collectives include all ranks can be predicted", op);
  if (!collective.group.is_set()) return format("some calls of {} do not show which ranks took part", op);
  if (run.groups()[collective.group.index()].members.size() != graph.ranks.size())
    return format("{} includes only some of the ranks; only jobs whose collectives include all ranks can be predicted",
                  op);
  if (!ring_of(op, 2)) return format("nothing is known about how long {} takes on more ranks", op);
  if (!matching.parts[row].split) return format("some calls of {} were not matched across the ranks", op);
  if (ring_of(op, 2)->share > 0 && collective.bytes < 0)
    return format("the sizes of some calls of {} were not recorded, so it is not known how their time grows", op);
  return {};
}

std::string why_not_scaled(const Graph& graph, const Matching& matching) {
  if (std::ranges::find(graph.boundaries, no_row) != graph.boundaries.end())
    return "the steps of at least one rank are not marked on any of its threads";
  for (const Node& node : graph.nodes) {
    if (node.kind != NodeKind::arrive) continue;
    if (std::string why = why_not_scaled(graph, matching, node); !why.empty()) return why;
  }
  return {};
}

}  // namespace

Section<StepSystems> step_systems(const Graph& graph, const Matching& matching) {
  if (std::string why = why_not_scaled(graph, matching); !why.empty()) return unavailable(std::move(why));
  if (!matching.section) return unavailable(matching.section.error().why);
  if (std::string why = why_too_many(graph); !why.empty()) return unavailable(std::move(why));
  return Steps(graph, *matching.section).reduce();
}

std::int64_t step_length(std::span<const StepSystem* const> ranks, std::span<const double> factors,
                         std::span<const std::int64_t> transfers_ns) {
  const std::size_t operations = transfers_ns.size();
  std::vector<double> ends(operations);
  double latest = 0;
  for (std::size_t operation = 0; operation <= operations; ++operation) {
    double go = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto ways = ranks[rank]->row(operation);
      for (std::size_t from = 0; from < ways.size(); ++from) {
        if (ways[from] == never) continue;
        const double before = from == 0 ? 0 : ends[from - 1];
        go = std::max(go, before + factors[rank] * static_cast<double>(ways[from]));
      }
    }
    if (operation < operations) ends[operation] = go + static_cast<double>(transfers_ns[operation]);
    latest = go;
  }
  return static_cast<std::int64_t>(latest);
}

}  // namespace rankscope::analyzer::scaling
