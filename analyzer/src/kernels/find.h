// Kernels and copies by name and by key, and what ran together (metrics.md 4.1, 4.2).
#pragma once

#include "rankscope/analyzer/kernels/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Over the ranks asked for that have an accelerator, in the counted windows.
[[nodiscard]] Section<KernelsSection> tabulate_kernels(const Run& run, const Section<StepsSection>& steps,
                                                       const ReportOptions& options);

}  // namespace rankscope::analyzer
