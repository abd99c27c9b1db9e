// What of the sources that need an NVIDIA GPU could record on this host: the lines of `rankscope doctor`.
#pragma once

#include <string>
#include <vector>

namespace rankscope::collectors {

/// One thing that a source needs.
struct GpuState {
  bool good = false;
  std::string what;    ///< "CUPTI"
  std::string found;   ///< where, and which version; or why it cannot be used
  std::string advice;  ///< what to do; of use where it is not good
};

/// Loads the libraries of the driver, of CUPTI and NCCL as the recorder would, and asks them; no GPU is initialised.
[[nodiscard]] std::vector<GpuState> gpu_states();

}  // namespace rankscope::collectors
