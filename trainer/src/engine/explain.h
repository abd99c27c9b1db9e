// What a run of these options would need (--explain), without starting it; free of torch includes.
#pragma once

#include <string>

#include "rankscope/core/result.h"
#include "rankscope/trainer/datasets.h"
#include "rankscope/trainer/options.h"
#include "rankscope/trainer/placement.h"
#include "rankscope/trainer/run_plan.h"

namespace rankscope::trainer {

/// Builds the model once, in this process, and refuses what training on so many ranks would refuse.
[[nodiscard]] Result<std::string> explain(const TrainOptions& options, int ranks);

/// Metadata of the recording: what this rank should hold between two steps, and send in one (costs.h), in bytes.
[[nodiscard]] Result<void> note_predicted(const TrainOptions& options, const SampleSource& source, const RunPlan& plan,
                                          const Placement& place);

}  // namespace rankscope::trainer
