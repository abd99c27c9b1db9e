// Strongly connected components of a graph.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::analyzer::hang {

/// Neighbours of each node.
using Edges = std::vector<std::vector<std::uint32_t>>;

/// The component of each node, numbered from 0. Tarjan (1972), without recursion.
[[nodiscard]] std::vector<std::uint32_t> components_of(const Edges& edges);

}  // namespace rankscope::analyzer::hang
