// Who made others wait, with what, and where that began (metrics.md 10).
#pragma once

#include "analyses/collectives.h"
#include "rankscope/analyzer/blame_section.h"

namespace rankscope::analyzer {

/// Of what the ranks asked for waited in the steps asked for, whoever caused it. `rows` are those of the time split.
[[nodiscard]] Section<BlameSection> find_blame(const Run& run, const ClockTrust& clocks,
                                               const Section<StepsSection>& steps,
                                               const Section<std::vector<RankRow>>& rows, const Matching& matching,
                                               const ReportOptions& options);

}  // namespace rankscope::analyzer
