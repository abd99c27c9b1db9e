// How fast data moved, and who sent how much to whom (metrics.md 6.6 to 6.8).
#pragma once

#include "collectives/find.h"
#include "rankscope/analyzer/bandwidth/section.h"

namespace rankscope::analyzer {

/// Of the operations in the steps asked for in which a rank asked for took part; what is sent is that of these ranks.
[[nodiscard]] Section<BandwidthSection> find_bandwidth(const Run& run, const ClockTrust& clocks,
                                                       const Section<StepsSection>& steps,
                                                       const Section<std::vector<RankRow>>& rows,
                                                       const Matching& matching, const ReportOptions& options);

}  // namespace rankscope::analyzer
