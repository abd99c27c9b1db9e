// How the host feeds the streams of an accelerator.
#pragma once

#include "rankscope/analyzer/launches/section.h"
#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

[[nodiscard]] Section<LaunchesSection> launches_of(const Run& run, const Section<StepsSection>& steps,
                                                   const ReportOptions& options);

}  // namespace rankscope::analyzer
