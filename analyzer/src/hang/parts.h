// The findings of this subject.
#pragma once

#include <vector>

#include "clocks/clock_trust.h"
#include "hang/process_ends.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

void judge_lost_ranks(const RuleContext& context, std::vector<Finding>& findings);

// Ranks that stopped while the others still needed them (findings rank_lost, lost_at_start, job_stopped and
// ranks_missing).

[[nodiscard]] std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps,
                                                   const ClockTrust& clocks);
/// The same for a caller that knows the ends already.
[[nodiscard]] std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps,
                                                   const ClockTrust& clocks, const hang::EndsOfRun& seen);

}  // namespace rankscope::analyzer
