// Set-up of libtorch in this process; free of torch includes.
#pragma once

#include "rankscope/trainer/options.h"

namespace rankscope::trainer {

/// Threads and observers. Call on the main thread before anything of libtorch is used.
void set_up_torch(const TrainOptions& options);

}  // namespace rankscope::trainer
