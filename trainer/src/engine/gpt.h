// A decoder of tokens: embedding, transformer blocks, and a head that predicts the next token.
#pragma once

#include <memory>

#include "engine/model.h"

namespace rankscope::trainer {

/// Split, it has the heads of attention, the width of the MLPs and the vocabulary shared equally by the ranks.
[[nodiscard]] Result<std::shared_ptr<Model>> build_gpt(const ModelOptions& options, const SampleShape& shape,
                                                       const TensorSplit& split);

}  // namespace rankscope::trainer
