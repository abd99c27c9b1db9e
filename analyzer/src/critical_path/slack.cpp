#include "critical_path/parts.h"

#include <algorithm>

#include "rankscope/core/model/run.h"
#include "replay/simulate.h"

namespace rankscope::analyzer::replay {
namespace {

constexpr double with_slack = 0.01;  // metrics.md 10.4: of a step

/// When each node must have ended so that the last step ends as it did.
std::vector<std::int64_t> latest_ends(const Graph& graph, const std::vector<std::int64_t>& ends) {
  std::int64_t last = 0;
  for (const std::uint32_t row : graph.boundaries)
    if (row != no_row) last = std::max(last, ends[row]);
  std::vector<std::int64_t> latest(ends.size(), last);
  for (std::size_t row = ends.size(); row-- > 0;) {
    const Node& node = graph.nodes[row];
    std::int64_t before = latest[row];
    if (node.delay_item != no_row) before -= graph.items[node.delay_item].ns;
    for (const Piece& piece : graph.pieces_of(node)) before -= piece.ns;
    for (const Pred& pred : graph.preds_of(node)) latest[pred.node] = std::min(latest[pred.node], before);
  }
  return latest;
}

constexpr std::int64_t not_in_graph = -1;

/// The least slack of a member's end by row of Run::collectives(), as a share of its step.
std::vector<double> slack_of_members(const Graph& graph, std::span<const std::int64_t> slack) {
  std::vector<double> shares(graph.run->collectives().size(), not_in_graph);
  for (std::size_t row = 0; row < graph.nodes.size(); ++row) {
    const Node& node = graph.nodes[row];
    if (node.kind != NodeKind::finish || !node.span.is_set() || node.pieces == 0) continue;
    const std::uint32_t member = graph.run->span(node.span).collective;
    if (member == Span::no_collective) continue;
    const std::uint32_t step = graph.items[graph.pieces_of(node).front().item].step;
    const auto length = static_cast<double>(std::max<std::int64_t>(1, graph.steps[step].measured_ns));
    shares[member] = static_cast<double>(slack[row]) / length;
  }
  return shares;
}

}  // namespace

std::vector<std::int64_t> slack_of(const Graph& graph) {
  const std::vector<std::int64_t> ends = simulate(graph, as_measured(graph));
  std::vector<std::int64_t> slack = latest_ends(graph, ends);
  for (std::size_t row = 0; row < ends.size(); ++row) slack[row] -= ends[row];
  return slack;
}

std::vector<bool> operations_with_slack(const Graph& graph, std::span<const std::int64_t> slack,
                                        std::span<const Operation> operations) {
  const std::vector<double> shares = slack_of_members(graph, slack);
  std::vector<bool> with;
  for (const Operation& operation : operations)
    with.push_back(!operation.members.empty() && std::ranges::all_of(operation.members, [&](std::uint32_t member) {
      return shares[member] > with_slack;
    }));
  return with;
}

}  // namespace rankscope::analyzer::replay
