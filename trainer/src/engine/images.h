// Models of images: chains of convolutions that end in a mean over the image and a linear head.
#pragma once

#include <memory>

#include "engine/model.h"

namespace rankscope::trainer {

/// Of a kind that is_convolutional.
[[nodiscard]] std::shared_ptr<Model> build_image_model(const ModelOptions& options, const SampleShape& shape);

}  // namespace rankscope::trainer
