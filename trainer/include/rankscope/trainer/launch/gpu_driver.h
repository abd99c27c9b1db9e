// What the NVIDIA driver of this host says, without anything of CUDA being linked.
#pragma once

#include <string>

namespace rankscope::trainer {

struct GpuDriver {
  int devices = 0;        ///< that this process may use
  std::string problem{};  ///< why a GPU that is here cannot be used
};

/// Loads the driver's library, if there is one, and asks it. CUDA_VISIBLE_DEVICES counts.
[[nodiscard]] GpuDriver find_gpus();

}  // namespace rankscope::trainer
