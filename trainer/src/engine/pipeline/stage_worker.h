// The worker of pipelines: each rank has some stages of the model, or a part of each of their layers.
#pragma once

#include <optional>

#include "engine/pipeline/pipeline_links.h"
#include "engine/pipeline/stage_replicas.h"
#include "engine/tensor/tensor_split.h"
#include "engine/worker/worker.h"

namespace rankscope::trainer {

/// Whom a rank shares the model with, in each direction.
struct StageSharing {
  std::optional<PipelineGroups> pipeline{};  ///< ranks with the other stages; none where one rank has them all
  Comm* replicas = nullptr;                  ///< ranks with a copy of the same stages; null: there is one
  StageUpdate update = StageUpdate::whole;
  TensorSplit split{};  ///< ranks with a part of each layer of the same stages
};

[[nodiscard]] Result<std::unique_ptr<Worker>> make_stage_worker(const WorkerPlan& plan, StageSharing sharing);

}  // namespace rankscope::trainer
