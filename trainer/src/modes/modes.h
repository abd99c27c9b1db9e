// Training in the mode of the options; each way to share the work (Work) has a file.
#pragma once

#include "rankscope/core/result.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// Trains as one rank, and returns the exit status.
[[nodiscard]] Result<int> run_mode(const TrainOptions& options, const Placement& place);

/// One process, with its devices.
[[nodiscard]] Result<int> run_alone(const TrainOptions& options, const Placement& place);
/// Several ranks each.
[[nodiscard]] Result<int> run_copies(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_layers(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_tiles(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_mesh(const TrainOptions& options, const Placement& place);
/// One rank or several.
[[nodiscard]] Result<int> run_stages(const TrainOptions& options, const Placement& place);

}  // namespace rankscope::trainer
