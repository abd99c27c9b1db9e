// Which rank is slow, since when, and why (metrics.md 9).
#pragma once

#include "steps/find.h"
#include "stragglers/arrivals.h"

namespace rankscope::analyzer {

[[nodiscard]] Section<StragglersSection> find_stragglers(const Run& run, const Section<StepsSection>& steps,
                                                         const Section<std::vector<RankRow>>& rows,
                                                         const Section<CollectivesSection>& collectives);

/// What replaying the run with a rank as its peers gives back takes the place of what was measured (metrics.md 20).
void set_replayed_gains(const WhatIfSection& replay, StragglersSection& section);

}  // namespace rankscope::analyzer
