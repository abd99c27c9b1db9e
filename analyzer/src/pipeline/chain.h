// The chain of actions that decided how long a step of a pipeline took, and who made it longer than theory.
#pragma once

#include <vector>

#include "pipeline/steps.h"
#include "rankscope/analyzer/pipeline/section.h"

namespace rankscope::analyzer {

/// Walks back from the last end: each action to what it had to wait for, the action before it on its rank or the one on
/// another stage whose result it needs. By place; the sum over all, plus `times` of each action of the chain, is the
/// length of the step.
[[nodiscard]] std::vector<AboveTheory> above_theory(const MarkedPipeline& pipeline, const PipelineStep& step,
                                                    const ActionTimes& times);

}  // namespace rankscope::analyzer
