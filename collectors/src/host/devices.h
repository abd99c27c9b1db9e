// Which GPUs a host has, by the files in its /dev.
#pragma once

#include <string_view>

#include "rankscope/collectors/gpu_state.h"

namespace rankscope::collectors {

/// "nvidia" and a number, as each GPU has one; "nvidiactl", which all share; and what the driver of WSL and the boards
/// with a GPU of their own have.
[[nodiscard]] bool is_nvidia_device(std::string_view name);

}  // namespace rankscope::collectors
