// Set-up of libtorch in this process; free of torch includes.
#pragma once

#include <optional>

#include "rankscope/core/result.h"
#include "rankscope/trainer/launch/placement.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// The first GPU of this rank, ready to be used (engine/accelerator.h), or none where it trains on the CPU. Says why it
/// does although a GPU is here. Call it before set_up_torch. A GPU that was asked for and cannot be had is an error of
/// kind usage.
[[nodiscard]] Result<std::optional<int>> take_gpu(const TrainOptions& options, const Placement& place);

/// Threads and observers. Call on the main thread before anything of libtorch is used.
void set_up_torch(const TrainOptions& options);

}  // namespace rankscope::trainer
