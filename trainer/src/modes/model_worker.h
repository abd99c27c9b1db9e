// The worker of modes in which each rank runs a model from its first block to its last.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/tensor/tensor_split.h"
#include "engine/tensor/tiles.h"
#include "engine/worker/worker.h"

namespace rankscope::trainer {

/// How ranks share the work of a model.
struct ModelSharing {
  Comm* replicas = nullptr;  ///< ranks with a copy of the model, whose gradients are averaged; null: there is one copy
  DeviceUse devices = DeviceUse::one;
  Comm* norms = nullptr;  ///< ranks whose samples a batch normalization takes together; null: each its own
  std::shared_ptr<const Tiles> tiles{};  ///< of images; null: whole ones
  TensorSplit split{};                   ///< ranks with a part of each layer
};

[[nodiscard]] Result<std::unique_ptr<Worker>> make_model_worker(const WorkerPlan& plan, ModelSharing sharing);

}  // namespace rankscope::trainer
