// Computes when everything in a graph happens if some of it takes longer or shorter (metrics.md 12.2).
#pragma once

#include <vector>

#include "replay/graph.h"

namespace rankscope::analyzer::replay {

/// Which orders hold.
enum class Order : std::uint8_t {
  as_recorded,
  overlapping,  ///< work on a stream or thread does not wait for communication that was enqueued there before it
};

/// Lengths of all items, by row of Graph::items.
struct Scenario {
  std::vector<std::int64_t> item_ns;
  Order order = Order::as_recorded;
};

[[nodiscard]] Scenario as_measured(const Graph& graph);

/// When each node ends, in ns of run time.
[[nodiscard]] std::vector<std::int64_t> simulate(const Graph& graph, const Scenario& scenario);
/// How long each step is for the job: from the last rank that begins it to the last one that begins the next.
[[nodiscard]] std::vector<std::int64_t> step_walls(const Graph& graph, std::span<const std::int64_t> ends);
/// All steps together.
[[nodiscard]] std::int64_t total_ns(const Graph& graph, const Scenario& scenario);
[[nodiscard]] std::int64_t measured_ns(const Graph& graph);

}  // namespace rankscope::analyzer::replay
