#include "replay/simulate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace rankscope::analyzer::replay {
namespace {

std::int64_t length_of(const Graph& graph, const Scenario& scenario, const Node& node) {
  std::int64_t sum = 0;
  for (const Piece& piece : graph.pieces_of(node)) {
    const std::int64_t before = graph.items[piece.item].ns;
    const std::int64_t now = scenario.item_ns[piece.item];
    if (now == before)
      sum += piece.ns;
    else if (before == 0)
      sum += now;  // only work that is one piece has no length
    else
      sum += std::llround(static_cast<double>(piece.ns) * (static_cast<double>(now) / static_cast<double>(before)));
  }
  return sum;
}

bool is_comm(const Node& node) { return node.kind == NodeKind::arrive || node.kind == NodeKind::finish; }

const Pred* order_before(const Graph& graph, const Node& node) {
  const auto preds = graph.preds_of(node);
  const auto found = std::ranges::find(preds, EdgeKind::order, &Pred::kind);
  return found == preds.end() ? nullptr : &*found;
}

/// With overlapping order other work of a lane does not wait for communication that was enqueued before it, but for
/// what stood before that. Communication still waits for the work before it, which may make its data.
std::uint32_t waited_for(const Graph& graph, const Scenario& scenario, const Node& node, const Pred& pred) {
  std::uint32_t row = pred.node;
  if (scenario.order == Order::as_recorded || pred.kind != EdgeKind::order || is_comm(node)) return row;
  while (is_comm(graph.nodes[row])) {
    const Pred* before = order_before(graph, graph.nodes[row]);
    if (before == nullptr) break;
    row = before->node;
  }
  return row;
}

}  // namespace

Scenario as_measured(const Graph& graph) {
  Scenario scenario;
  scenario.item_ns.reserve(graph.items.size());
  for (const Item& item : graph.items) scenario.item_ns.push_back(item.ns);
  return scenario;
}

std::vector<std::int64_t> simulate(const Graph& graph, const Scenario& scenario) {
  std::vector<std::int64_t> ends(graph.nodes.size());
  for (std::size_t row = 0; row < graph.nodes.size(); ++row) {
    const Node& node = graph.nodes[row];
    std::int64_t ready = std::numeric_limits<std::int64_t>::min();
    for (const Pred& pred : graph.preds_of(node))
      ready = std::max(ready, ends[waited_for(graph, scenario, node, pred)]);
    if (ready == std::numeric_limits<std::int64_t>::min()) ready = ns_of(node.start);
    if (node.delay_item != no_row) ready += scenario.item_ns[node.delay_item];
    ends[row] = std::max(ready + length_of(graph, scenario, node), ns_of(node.floor));
  }
  return ends;
}

std::vector<std::int64_t> step_walls(const Graph& graph, std::span<const std::int64_t> ends) {
  std::vector<std::int64_t> begins;
  for (std::size_t step = 0; step <= graph.steps.size(); ++step) {
    std::int64_t begin = std::numeric_limits<std::int64_t>::min();
    for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank) {
      const std::uint32_t row = graph.boundaries[step * graph.ranks.size() + rank];
      if (row != no_row) begin = std::max(begin, ends[row]);
    }
    begins.push_back(begin);
  }
  std::vector<std::int64_t> walls;
  for (std::size_t step = 0; step < graph.steps.size(); ++step) walls.push_back(begins[step + 1] - begins[step]);
  return walls;
}

std::int64_t total_ns(const Graph& graph, const Scenario& scenario) {
  const std::vector<std::int64_t> walls = step_walls(graph, simulate(graph, scenario));
  return std::accumulate(walls.begin(), walls.end(), std::int64_t{0});
}

std::int64_t measured_ns(const Graph& graph) {
  std::int64_t sum = 0;
  for (const GraphStep& step : graph.steps) sum += step.measured_ns;
  return sum;
}

}  // namespace rankscope::analyzer::replay
