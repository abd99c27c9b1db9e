// Where the level of a series changes (metrics.md 9.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::analyzer {

inline constexpr std::size_t least_for_changes = 20;

/// Indices at which a new level begins, ascending; `values` are positive durations. Offline PELT (Killick 2012) on the
/// mean of their logarithms: variance from the differences of neighbours, penalty 3 ln n, at least 5 values a segment;
/// neighbours closer than 3 % are one, and a change counts from 5 % on (10 values after against 20 before). Nothing for
/// fewer than 20 values. Series of more than 2,000 are looked at in blocks.
[[nodiscard]] std::vector<std::size_t> change_points(std::span<const std::int64_t> values);

}  // namespace rankscope::analyzer
