// How long each device of the run has computed, told when the last step is done.
#pragma once

#include <chrono>

#include "engine/worker.h"

namespace rankscope::trainer {

class DeviceTimes {
 public:
  /// Steps begin now, on the calling thread.
  void begin();
  /// All ranks call it behind their last step, on the same thread; rank 0 says what all have computed, and which
  /// devices have not.
  [[nodiscard]] Result<void> tell(const WorkerPlan& plan, const Worker& worker) const;

 private:
  std::chrono::nanoseconds begun_{0};  // CPU time of the training thread
};

}  // namespace rankscope::trainer
