// How the length of steps went over the run (metrics.md 1.7, 9.5).
#pragma once

#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/trend/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Changes of level and steps that stand out, with the ranks whose own time (9.1) made them.
[[nodiscard]] Section<TrendSection> find_trend(const Section<StepsSection>& steps,
                                               const Section<std::vector<RankRow>>& rows);

}  // namespace rankscope::analyzer
