// The program as one rank of a job.
#pragma once

#include "rankscope/core/result.h"
#include "rankscope/trainer/options.h"
#include "rankscope/trainer/placement.h"

namespace rankscope::trainer {

/// Trains, and returns the exit status. What is wrong on all ranks has no message on any but rank 0.
[[nodiscard]] Result<int> run_rank(const TrainOptions& options, const Placement& place);

}  // namespace rankscope::trainer
