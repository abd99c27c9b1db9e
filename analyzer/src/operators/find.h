// Operators and annotations: time of the host, and of what they launched on accelerators (metrics.md 4.3).
#pragma once

#include "rankscope/analyzer/operators/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Over the ranks asked for, in the counted windows.
[[nodiscard]] Section<OperatorsSection> tabulate_operators(const Run& run, const Section<StepsSection>& steps,
                                                           const ReportOptions& options);

}  // namespace rankscope::analyzer
