// Pipeline parallelism (metrics.md 13).
#pragma once

#include "analyses/clock_trust.h"
#include "analyses/steps.h"
#include "rankscope/analyzer/pipeline_section.h"

namespace rankscope::analyzer {

[[nodiscard]] Section<PipelineSection> find_pipeline(const Run& run, const ClockTrust& clocks,
                                                     const Section<StepsSection>& steps);

}  // namespace rankscope::analyzer
