// Which rank is slow, since when, and why (metrics.md 9).
#pragma once

#include "analyses/arrivals.h"
#include "analyses/steps.h"

namespace rankscope::analyzer {

[[nodiscard]] Section<StragglersSection> find_stragglers(const Run& run, const Section<StepsSection>& steps,
                                                         const Section<std::vector<RankRow>>& rows,
                                                         const Section<CollectivesSection>& collectives);

}  // namespace rankscope::analyzer
