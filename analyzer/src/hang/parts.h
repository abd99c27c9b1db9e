// The findings of this subject.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clocks/clock_trust.h"
#include "hang/process_ends.h"
#include "rankscope/analyzer/hang/hang.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

void judge_lost_ranks(const RuleContext& context, std::vector<Finding>& findings);

// Ranks that stopped while the others still needed them (findings rank_lost, lost_at_start, job_stopped and
// ranks_missing).

/// A job that hung until it was stopped is named as such, with the rank that hung.
[[nodiscard]] std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps,
                                                   const ClockTrust& clocks);
/// The same without hangs, for a caller that knows the ends already.
[[nodiscard]] std::vector<Finding> find_lost_ranks(const Run& run, const Section<StepsSection>& steps,
                                                   const ClockTrust& clocks, const hang::EndsOfRun& seen);

namespace hang {

/// The verdict on a run of one time axis. `lost`: of find_lost_ranks() with these ends.
[[nodiscard]] HangReport judge_ended(const Run& run, const EndsOfRun& ends, std::span<const Finding> lost,
                                     std::int64_t now_unix_ns);

}  // namespace hang

}  // namespace rankscope::analyzer
