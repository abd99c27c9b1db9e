// Whether a slow rank runs operators that its peers do not run, or run less often (metrics.md 9.11).
#pragma once

#include <span>

#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/stragglers/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Adds it to ranks that compute longer than their peers.
void add_more_work(const Run& run, const StepsSection& steps, std::span<const RankRow> rows,
                   StragglersSection& section);

}  // namespace rankscope::analyzer
