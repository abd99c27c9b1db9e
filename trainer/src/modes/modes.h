// Entry points of the modes; rows of the registry.
#pragma once

#include "rankscope/core/result.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

[[nodiscard]] Result<int> run_3d(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_ddp(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_ddp_mp(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_dp(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_mp(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_pp(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_single(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_tile(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_tp(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_tp_sp(const TrainOptions& options, const Placement& place);
[[nodiscard]] Result<int> run_zero(const TrainOptions& options, const Placement& place);

}  // namespace rankscope::trainer
