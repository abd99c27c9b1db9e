// The training loop of pipelines: each rank holds some stages of the model.
#pragma once

#include "engine/comm.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/options.h"
#include "rankscope/trainer/placement.h"

namespace rankscope::trainer {

/// Groups of all ranks of the pipeline; null where one rank is alone.
struct PipelineJob {
  const TrainOptions& options;
  const Placement& place;
  Comm* all = nullptr;       ///< collectives: start, losses, end
  Comm* forward = nullptr;   ///< activations
  Comm* backward = nullptr;  ///< their gradients
};

[[nodiscard]] Result<void> train_pipeline(const PipelineJob& job);

}  // namespace rankscope::trainer
