// What a run of these options would need (--explain), without starting it; free of torch includes.
#pragma once

#include <string>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options.h"

namespace rankscope::trainer {

/// Builds the model once, in this process, and refuses what training on so many ranks would refuse.
[[nodiscard]] Result<std::string> explain(const TrainOptions& options, int ranks);

}  // namespace rankscope::trainer
