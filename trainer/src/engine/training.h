// The training loop of all modes but pipelines (pipeline_training.h).
#pragma once

#include <cstdint>

#include "engine/comm.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/options.h"
#include "rankscope/trainer/placement.h"

namespace rankscope::trainer {

/// How a process uses its devices.
enum class DeviceUse : std::uint8_t {
  one,       ///< the model is on one device
  chain,     ///< its layers are spread over them
  replicas,  ///< each has a replica
};

struct TrainingJob {
  const TrainOptions& options;
  const Placement& place;
  Comm* comm = nullptr;  ///< of all ranks; null for one process alone
  DeviceUse devices = DeviceUse::one;
};

[[nodiscard]] Result<void> train(const TrainingJob& job);

}  // namespace rankscope::trainer
