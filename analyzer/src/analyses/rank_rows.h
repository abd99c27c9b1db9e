// One row per rank: its time split over the counted steps, and what its counters say (metrics.md 2, 3.1, 14.1).
#pragma once

#include "analyses/collectives.h"
#include "analyses/steps.h"

namespace rankscope::analyzer {

/// All ranks, over the steps asked for: a rank is compared with its peers whether they are shown or not.
[[nodiscard]] Section<std::vector<RankRow>> split_ranks(const Run& run, const Section<StepsSection>& steps,
                                                        const Matching& matching, const ReportOptions& options);

/// The windows of a rank that count: those of the counted steps, else its whole recording.
[[nodiscard]] std::vector<TimeRange> counted_windows(const Run& run, RankId rank, const Section<StepsSection>& steps);

}  // namespace rankscope::analyzer
