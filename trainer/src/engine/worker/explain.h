// What a run of these options would need (--explain), without starting it; free of torch includes.
#pragma once

#include <string>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

class Model;
struct WorkerPlan;

/// Builds the model once, in this process, and refuses what training on so many ranks would refuse.
[[nodiscard]] Result<std::string> explain(const TrainOptions& options, int ranks);

/// Metadata of the recording: what this rank should hold between two steps, and send in one (costs.h), in bytes; none
/// where nobody records. `model` is what this rank has built, before it gives anything of it away.
[[nodiscard]] Result<void> note_predicted(const WorkerPlan& run, Model& model);

}  // namespace rankscope::trainer
