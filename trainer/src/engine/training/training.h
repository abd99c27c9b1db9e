// The training loop of all modes.
#pragma once

#include "engine/worker/worker.h"

namespace rankscope::trainer {

struct TrainingJob {
  const TrainOptions& options;
  const Placement& place;
  Comm* everybody = nullptr;  ///< group of all ranks: start, losses, end; null for one process alone
};

[[nodiscard]] Result<void> train(const TrainingJob& job, const MakeWorker& make_worker);

}  // namespace rankscope::trainer
