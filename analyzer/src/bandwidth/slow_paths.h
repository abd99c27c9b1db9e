// Groups and links that move data more slowly than their like, or than they did before (metrics.md 9.7, 20).
#pragma once

#include "collectives/find.h"
#include "rankscope/analyzer/bandwidth/section.h"

namespace rankscope::analyzer {

/// Those that cost their ranks 2 % of their time and more, the most expensive first.
[[nodiscard]] std::vector<SlowPath> slow_paths(const Run& run, const ClockTrust& clocks,
                                               const Section<StepsSection>& steps, std::span<const RankRow> rows,
                                               std::span<const Operation* const> operations);

}  // namespace rankscope::analyzer
