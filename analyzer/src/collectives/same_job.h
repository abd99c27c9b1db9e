// May the ranks of a run be compared at all? Files of different jobs can be opened together by mistake.
#pragma once

#include "collectives/find.h"
#include "collectives/matching.h"
#include "rankscope/analyzer/steps/section.h"

namespace rankscope::analyzer {

/// Why they may not; empty if they may. Besides what the importer found: traces of other tools that do not overlap in
/// time and have neither a step nor a collective in common.
[[nodiscard]] std::string why_other_jobs(const Run& run, const Section<StepsSection>& steps, const Matching& matching);

}  // namespace rankscope::analyzer
