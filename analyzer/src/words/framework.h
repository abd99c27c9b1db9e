// Which framework a program uses: advice names the calls of that one.
#pragma once

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// True if operators or kernels of PyTorch were recorded, by anything in the run.
[[nodiscard]] bool uses_pytorch(const Run& run);

}  // namespace rankscope::analyzer
