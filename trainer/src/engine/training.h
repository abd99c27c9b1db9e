// The training loop that all modes share.
#pragma once

#include "engine/comm.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/options.h"
#include "rankscope/trainer/placement.h"

namespace rankscope::trainer {

struct TrainingJob {
  const TrainOptions& options;
  const Placement& place;
  Comm* comm = nullptr;  ///< of all ranks; null for one process alone
};

[[nodiscard]] Result<void> train(const TrainingJob& job);

}  // namespace rankscope::trainer
