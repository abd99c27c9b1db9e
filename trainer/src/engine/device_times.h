// How long each device of the run has computed, told when the last step is done.
#pragma once

#include <chrono>

#include "engine/worker.h"

namespace rankscope::trainer {

class DeviceTimes {
 public:
  /// Steps begin now.
  void begin();
  /// All ranks call it behind their last step; rank 0 says what all have computed, and which devices have not.
  [[nodiscard]] Result<void> tell(const WorkerPlan& plan, const Worker& worker) const;

 private:
  std::chrono::nanoseconds begun_{0};  // of this process' CPU time
};

}  // namespace rankscope::trainer
