// One row per rank: its time split over the counted steps, and what its counters say (metrics.md 2, 3.1, 14.1).
#pragma once

#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/steps/section.h"
#include "split/layers.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// All ranks, over the steps asked for: a rank is compared with its peers whether they are shown or not. Nothing where
/// a rank's devices were not recorded (device_record.h).
[[nodiscard]] Section<std::vector<RankRow>> split_ranks(const Run& run, const Section<StepsSection>& steps,
                                                        const Matching& matching, const ReportOptions& options);

// Where the time of a rank's window went, exact to the nanosecond (metrics.md 2).

/// One split per window. The windows must ascend and not overlap.
[[nodiscard]] std::vector<TimeSplit> split_windows(const Layers& layers, std::span<const TimeRange> windows);

}  // namespace rankscope::analyzer
