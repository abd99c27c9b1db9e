// FLOP, MFU and the loss ladder (metrics.md 15).
#pragma once

#include "rankscope/analyzer/flops/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Over the ranks asked for, in the counted windows.
[[nodiscard]] Section<FlopsSection> count_flops(const Run& run, const Section<StepsSection>& steps,
                                                const Section<std::vector<RankRow>>& rank_rows,
                                                const ReportOptions& options);

}  // namespace rankscope::analyzer
