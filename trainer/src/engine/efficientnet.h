// EfficientNetV2-L (Tan and Le 2021) with an auxiliary classifier.
#pragma once

#include <memory>

#include "engine/model.h"

namespace rankscope::trainer {

[[nodiscard]] std::shared_ptr<Model> build_efficientnet(const ModelOptions& options, const SampleShape& shape);

}  // namespace rankscope::trainer
