// The efficiency of the job as a product of what makes it (metrics.md 8).
#pragma once

#include "rankscope/analyzer/efficiency/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Of all ranks, whichever were asked for, over the steps asked for.
[[nodiscard]] Section<EfficiencySection> find_efficiency(const Run& run, const Section<StepsSection>& steps,
                                                         const Section<std::vector<RankRow>>& rows);

}  // namespace rankscope::analyzer
