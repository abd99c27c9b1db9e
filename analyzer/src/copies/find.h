// Copies by kind, and the host calls that wait for the device (metrics.md 4.7).
#pragma once

#include "rankscope/analyzer/copies/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// Over the ranks asked for that have an accelerator, in the counted windows. `all_steps` are those of the recording,
/// of which the first one allocates what later ones use again.
[[nodiscard]] Section<CopiesSection> tabulate_copies(const Run& run, const Section<StepsSection>& steps,
                                                     const Section<StepsSection>& all_steps,
                                                     const ReportOptions& options);

}  // namespace rankscope::analyzer
