// FLOP of convolutions (metrics.md 15.1): twice the batch, the size of the output plane and the weight, also of each of
// the two gradients.
#pragma once

#include "flops/count.h"

namespace rankscope::analyzer {

[[nodiscard]] bool is_convolution(std::string_view name);
/// The input that is the weight, or has its type.
[[nodiscard]] std::size_t convolution_weight(std::string_view name);
[[nodiscard]] FlopResult flops_of_convolution(std::string_view name, const OperatorInputs& inputs,
                                              const ConvolutionOutputs& convolutions);

}  // namespace rankscope::analyzer
