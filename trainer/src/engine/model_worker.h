// The worker of modes in which each rank runs a model from its first block to its last.
#pragma once

#include <cstdint>

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

}  // namespace rankscope::trainer
