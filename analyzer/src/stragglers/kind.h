// What a slow rank spends its extra time on, in words and numbers (metrics.md 9.7).
#pragma once

#include <array>

#include "rankscope/analyzer/stragglers/section.h"
#include "split/peers.h"

namespace rankscope::analyzer {

/// Components of own time; the order is that of the split.
enum class Component : std::uint8_t { compute, host, data, memory, network };
inline constexpr std::size_t component_count = 5;
[[nodiscard]] std::int64_t part_of(const TimeSplit& split, Component component);
[[nodiscard]] StragglerKind kind_of(Component component);

/// One rank's components against those of its peers, as medians over some steps.
struct Excess {
  std::array<std::int64_t, component_count> own_ns{};
  std::array<std::int64_t, component_count> peers_ns{};
  std::int64_t unexplained_ns = 0;  ///< (x_r - c) minus the sum of the differences
  StragglerKind kind = StragglerKind::mixed;
  std::size_t peer_count = 0;

  [[nodiscard]] std::int64_t difference_ns(std::size_t component) const {
    return own_ns[component] - peers_ns[component];
  }
};

/// Compares peer number `peer` with the others over the given counted steps; `excess_ns` is x_r - c.
[[nodiscard]] Excess explain_excess(const PeerClass& peers, std::size_t peer, std::span<const std::size_t> steps,
                                    std::int64_t excess_ns);

/// "rank 2 computes 148.2 ms per step, its peers 100.1 ms (median of 3)"
[[nodiscard]] std::string describe_excess(RankId rank, const Excess& excess);

/// An idle cause that only this rank has: the second proof of 9.3.
[[nodiscard]] bool is_alone_with_it(const Excess& excess, std::int64_t peers_own_ns);

}  // namespace rankscope::analyzer
