// The program as the launcher of the ranks of this machine, or as one of them.
#pragma once

#include <string>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// The file of --write-schedule, before anybody waits for anybody.
[[nodiscard]] Result<void> write_schedule(const TrainOptions& options, int world_size);

/// Starts the ranks with these arguments of the command line, and returns their exit status. What is wrong for all of
/// them is said once, before any is started.
[[nodiscard]] Result<int> launch_job(TrainOptions options, const std::vector<std::string>& arguments);

/// Trains as one rank, and returns the exit status. What is wrong on all ranks has no message on any but rank 0.
[[nodiscard]] Result<int> run_rank(const TrainOptions& options, const Placement& place);

}  // namespace rankscope::trainer
