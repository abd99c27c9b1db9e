// How large the models are that the options ask for.
#pragma once

#include <cstdint>

#include "rankscope/core/result.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// Layers that the options ask for, or those of the scale; 0 for models whose depth is in their name.
[[nodiscard]] std::int64_t layers_of(const ModelOptions& options);

/// Width of the layers of the mlp.
[[nodiscard]] std::int64_t mlp_width(const ModelOptions& options);

/// Sizes of a gpt once options and scale are resolved.
struct GptSize {
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t sequence = 0;
};
[[nodiscard]] GptSize gpt_size(const ModelOptions& options);

constexpr std::int64_t gpt_vocabulary = 256;  // bytes

/// Refuses a model whose layers so many ranks cannot share equally, with the numbers, as an error of kind usage.
[[nodiscard]] Result<void> check_split(const ModelOptions& options, std::int64_t ranks, SequenceParallel sequence);

}  // namespace rankscope::trainer
