// What follows from the options once the number of ranks and samples is known; the same on every rank.
#pragma once

#include <cstdint>
#include <optional>

#include "rankscope/core/result.h"
#include "rankscope/trainer/data/loader.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/layout/mesh.h"
#include "rankscope/trainer/layout/tile_plan.h"
#include "rankscope/trainer/options/options.h"
#include "rankscope/trainer/plan/pipeline_plan.h"

namespace rankscope::trainer {

/// What one rank does in a run, after everything that cannot work was refused.
struct RunPlan {
  BatchSizes batch{};
  BatchPlan loading{};
  std::int64_t steps = 0;
  int shares = 1;                          ///< devices with samples of their own
  std::optional<PipelinePlan> pipeline{};  ///< of pp and 3d
  std::optional<TileGrid> tiles{};         ///< of tile
  std::optional<Mesh> mesh{};              ///< of 3d, with the place of this rank
};

/// Refuses a fault on a rank that does not exist, or that would act only after the last of `steps` (0 = not known yet).
[[nodiscard]] Result<void> check_faults(const TrainOptions& options, int world_size, std::int64_t steps);

/// How many ranks a pipeline of the run has.
[[nodiscard]] Result<int> ranks_of_pipeline(const TrainOptions& options, int world_size);

/// Refuses what cannot work, with the numbers: more ranks than samples, a fault on a rank that does not exist, ...
[[nodiscard]] Result<RunPlan> plan_run(const TrainOptions& options, const Placement& place, std::int64_t samples);

/// Whether the options ask for pace on this machine; `automatic` then still has to be measured.
[[nodiscard]] PaceMode effective_pace(const PaceOptions& options, int local_ranks, int cores);

}  // namespace rankscope::trainer
