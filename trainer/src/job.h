// The program as the launcher of the ranks of this machine.
#pragma once

#include <string>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options.h"

namespace rankscope::trainer {

/// The file of --write-schedule, before anybody waits for anybody.
[[nodiscard]] Result<void> write_schedule(const TrainOptions& options, int world_size);

/// Starts the ranks with these arguments of the command line, and returns their exit status. What is wrong for all of
/// them is said once, before any is started.
[[nodiscard]] Result<int> launch_job(TrainOptions options, const std::vector<std::string>& arguments);

}  // namespace rankscope::trainer
