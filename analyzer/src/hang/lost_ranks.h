// Ranks that stopped while the others still needed them (findings rank_lost, lost_at_start, job_stopped and
// ranks_missing).
#pragma once

#include "clocks/clock_trust.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps,
                                                   const ClockTrust& clocks);

}  // namespace rankscope::analyzer
