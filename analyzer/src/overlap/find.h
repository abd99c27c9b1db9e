// Communication beside compute (metrics.md 3).
#pragma once

#include "collectives/find.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Of the ranks asked for, in their counted windows. `rows` are those of the time split: per rank the sums agree to the
/// nanosecond.
[[nodiscard]] Section<OverlapSection> find_overlap(const Run& run, const Section<StepsSection>& steps,
                                                   const Section<std::vector<RankRow>>& rows, const Matching& matching,
                                                   const ReportOptions& options);

}  // namespace rankscope::analyzer
