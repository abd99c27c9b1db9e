#include "critical_path/path_walk.h"
#include "rankscope/core/model/run.h"

#include <algorithm>

namespace rankscope::analyzer::replay {
namespace {

/// The boundary of the rank that begins a step last; the lowest of several.
std::uint32_t last_boundary(const Graph& graph, std::size_t step) {
  std::uint32_t last = no_row;
  for (std::size_t rank = 0; rank < graph.ranks.size(); ++rank) {
    const std::uint32_t row = graph.boundaries[step * graph.ranks.size() + rank];
    if (row != no_row && (last == no_row || graph.nodes[row].end > graph.nodes[last].end)) last = row;
  }
  return last;
}

constexpr nanoseconds longest_return{100'000};  // from a wait that is over

class Walk {
 public:
  Walk(const Graph& graph, std::size_t step)
      : graph_(graph), run_(*graph.run), begin_(begin_of_step(graph, step)), now_(begin_of_step(graph, step + 1)) {
    row_ = last_boundary(graph, step + 1);
  }

  Path path() {
    while (row_ != no_row && now_ > begin_) {
      const Node& node = graph_.nodes[row_];
      if (node.end > now_) path_.clamped_ns += (node.end - now_).count();
      charge_node(node);
      const Pred* binding = binding_of(node);
      if (binding == nullptr) break;
      charge_delay(node, *binding);
      row_ = binding->node;
    }
    // Where the walk ends at a meeting, it is a rank outside of the graph that was awaited.
    if (now_ > begin_ && row_ != no_row)
      charge_until(begin_, graph_.nodes[row_],
                   graph_.nodes[row_].kind == NodeKind::meet ? PathClass::wait : PathClass::gap, {});
    std::ranges::reverse(path_.stretches);
    return std::move(path_);
  }

 private:
  /// The predecessor that ended last; the first of several.
  [[nodiscard]] const Pred* binding_of(const Node& node) const {
    const auto preds = graph_.preds_of(node);
    if (preds.empty()) return nullptr;
    return &*std::ranges::max_element(preds, {}, [&](const Pred& pred) { return graph_.nodes[pred.node].end; });
  }

  [[nodiscard]] StringId name_of_span(SpanId span) const { return span.is_set() ? run_.span(span).name : StringId{}; }

  /// From where the walk is back to `until`.
  void charge_until(RunTime until, const Node& node, PathClass kind, StringId name) {
    until = std::max(until, begin_);
    if (until >= now_) return;
    const RankId rank = node.rank == no_row ? RankId::none() : graph_.ranks[node.rank];
    path_.stretches.push_back({rank, node.lane, {until, now_}, kind, name});
    now_ = until;
  }

  /// Its pieces follow one another from its start to its end.
  void charge_node(const Node& node) {
    const auto pieces = graph_.pieces_of(node);
    RunTime begin = node.end;
    for (auto piece = pieces.rbegin(); piece != pieces.rend(); ++piece) {
      begin -= nanoseconds{piece->ns};
      const Item& item = graph_.items[piece->item];
      // What a host did after its last recorded event is not known.
      if (item.work == Work::host && !item.span.is_set())
        charge_until(std::max(begin, graph_.host_ends[node.rank]), node, PathClass::gap, {});
      const bool unknown = item.work == Work::transfer && node.floor == node.end;
      charge_until(begin, node, unknown ? PathClass::wait : class_of(item.work), name_of_span(item.span));
    }
    charge_until(node.start, node, PathClass::gap, {});
  }

  /// Between the end of what a node waited for and its start. A host that has to notice first that its wait is over
  /// works; one that stands still for longer waits for something that is not recorded.
  void charge_delay(const Node& node, const Pred& binding) {
    const RunTime ready = graph_.nodes[binding.node].end;
    const StringId name = name_of_span(node.span);
    if (binding.kind == EdgeKind::host_wait && node.span.is_set())
      charge_until(std::max(ready, now_ - longest_return), node, PathClass::host, name);
    const bool by_host = binding.kind == EdgeKind::launch || (node.kind == NodeKind::resume && !node.span.is_set());
    charge_until(ready, node, by_host ? PathClass::host : PathClass::gap, name);
  }

  const Graph& graph_;
  const Run& run_;
  RunTime begin_;
  RunTime now_;
  std::uint32_t row_ = no_row;
  Path path_;
};

}  // namespace

PathClass class_of(Work work) {
  switch (work) {
    case Work::compute:
      return PathClass::compute;
    case Work::memory:
      return PathClass::memory;
    case Work::transfer:
      return PathClass::comm;
    case Work::host:
      return PathClass::host;
    case Work::data:
      return PathClass::data;
    case Work::delay:
      break;
  }
  return PathClass::gap;
}

RunTime begin_of_step(const Graph& graph, std::size_t step) {
  const std::uint32_t row = last_boundary(graph, step);
  return row == no_row ? RunTime{} : graph.nodes[row].end;
}

Path walk_path(const Graph& graph, std::size_t step) { return Walk(graph, step).path(); }

}  // namespace rankscope::analyzer::replay
