// Pipeline parallelism (metrics.md 13).
#pragma once

#include "clocks/clock_trust.h"
#include "rankscope/analyzer/pipeline/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

[[nodiscard]] Section<PipelineSection> find_pipeline(const Run& run, const ClockTrust& clocks,
                                                     const Section<StepsSection>& steps);

}  // namespace rankscope::analyzer
