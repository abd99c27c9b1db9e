// How far the change of a median or mean between two series may be chance (metrics.md 17.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "rankscope/analyzer/compare/step_comparison.h"

namespace rankscope::analyzer {

inline constexpr std::size_t bootstrap_draws = 2000;
/// The same input gives the same interval (metrics.md C9).
inline constexpr std::uint64_t bootstrap_seed = 17;

/// How many neighbouring values are drawn together: max(3, round(cube root of the count)), at most all of them.
[[nodiscard]] std::size_t block_length(std::size_t count);

/// measure(b) / measure(a) - 1. Moving-block bootstrap of both series: the interval is between quantiles of the changes
/// of the draws. Their distances from the observed change are widened by S / (S - block) of the shorter series, since a
/// bootstrap from few blocks understates the variation of the series: without it, ten equal steps differ
/// "significantly" in 10 % of all pairs instead of 5 %.
/// Each series has more values than a block; the measure of `a` is positive.
[[nodiscard]] MeasureChange change_between(std::span<const std::int64_t> a, std::span<const std::int64_t> b,
                                           StepMeasure measure);

/// Of a series that is not empty.
[[nodiscard]] std::int64_t measured(std::span<const std::int64_t> series, StepMeasure measure);

}  // namespace rankscope::analyzer
