// Saving a training and going on with it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/worker/worker.h"

namespace rankscope::trainer {

class Checkpoints {
 public:
  /// `worker` is that of the plan.
  Checkpoints(const WorkerPlan& plan, Worker& worker) : plan_(plan), worker_(worker) {}

  /// Takes the state that --resume asks for, and returns the number of steps that are done; 0 without it. A checkpoint
  /// of another model, optimizer or global batch is an error of kind usage.
  [[nodiscard]] Result<std::int64_t> resume();

  /// Saves after `done` steps where --save-every or the end of the run ask for it. All ranks call it. A checkpoint that
  /// cannot be written is logged, and training continues; at the end of the run it is an error.
  [[nodiscard]] Result<void> after_step(std::int64_t done);
  /// Whether that is so.
  [[nodiscard]] bool is_due(std::int64_t done) const;

 private:
  [[nodiscard]] Result<void> save(std::int64_t done);

  const WorkerPlan& plan_;
  Worker& worker_;
};

}  // namespace rankscope::trainer
