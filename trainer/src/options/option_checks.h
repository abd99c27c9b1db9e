// What one option alone cannot tell.
#pragma once

#include <string>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// Refuses options that contradict each other, or that the mode or the model has no use for: nothing that was asked for
/// is left undone in silence.
[[nodiscard]] Result<void> check_together(const TrainOptions& options);

[[nodiscard]] bool has_devices(const std::string& mode);
/// "cnn, resnet18, ...".
[[nodiscard]] std::string convolutional_models();

}  // namespace rankscope::trainer
