// The kinds of models; build_model (model.h) chooses one.
#pragma once

#include <memory>

#include "engine/models/model.h"

namespace rankscope::trainer {

/// A decoder of tokens: embedding, transformer blocks, and a head that predicts the next token. Split, it has the heads
/// of attention, the width of the MLPs and the vocabulary shared equally by the ranks.
[[nodiscard]] Result<std::shared_ptr<Model>> build_gpt(const ModelOptions& options, const SampleShape& shape,
                                                       const TensorSplit& split);

/// Chains of convolutions that end in a mean over the image and a linear head; of a kind that is_convolutional.
[[nodiscard]] std::shared_ptr<Model> build_image_model(const ModelOptions& options, const SampleShape& shape);

/// EfficientNetV2-L (Tan and Le 2021) with an auxiliary classifier.
[[nodiscard]] std::shared_ptr<Model> build_efficientnet(const ModelOptions& options, const SampleShape& shape);

}  // namespace rankscope::trainer
