// The worker of modes in which each rank runs a model from its first block to its last.
#pragma once

#include <cstdint>

#include "engine/tensor_split.h"
#include "engine/worker.h"

namespace rankscope::trainer {

/// How a process uses its devices.
enum class DeviceUse : std::uint8_t {
  one,       ///< the model is on one device
  chain,     ///< its layers are spread over them
  replicas,  ///< each has a replica
};

/// `replicas` are the ranks with a copy of the model, whose gradients are averaged; null where there is one copy.
[[nodiscard]] Result<std::unique_ptr<Worker>> make_model_worker(const WorkerPlan& plan, Comm* replicas,
                                                                DeviceUse devices);

/// One copy of the model on one device of each rank of `split`, which has a part of each layer there.
[[nodiscard]] Result<std::unique_ptr<Worker>> make_tensor_worker(const WorkerPlan& plan, const TensorSplit& split);

}  // namespace rankscope::trainer
