// Starts the ranks of one machine as processes of the same program and answers for them.
#pragma once

#include <string>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// Runs `program arguments...` once per rank with RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR and
/// MASTER_PORT set, forwards signals, and returns the status of the first rank that failed (128 + n on signal n).
/// Ranks that do not end by themselves after another one has failed are stopped; then all are started again, as often
/// as options.restarts says, with RANKSCOPE_RESTART_COUNT set. Wrong options are no reason to.
[[nodiscard]] Result<int> launch_ranks(const std::string& program, const std::vector<std::string>& arguments,
                                       const LaunchOptions& options);

}  // namespace rankscope::trainer
