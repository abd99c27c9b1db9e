#include "flops/count.h"

#include <algorithm>
#include <array>
#include <span>

#include "math/checked_product.h"

namespace rankscope::analyzer {
namespace {

/// Where a forward convolution has its arguments.
struct Forward {
  std::string_view name;
  std::size_t stride;
  std::size_t padding;
  std::size_t dilation;
  std::size_t transposed;  ///< `no_argument`: it is not
};
constexpr std::size_t input = 0;
constexpr std::size_t weight_argument = 1;
// What _convolution calls is counted in its place if its name is here, too (counted_operators.cpp).
constexpr std::array forwards{
    Forward{"aten::convolution", 3, 4, 5, 6},
    Forward{"aten::_convolution", 3, 4, 5, 6},
    Forward{"aten::cudnn_convolution", 3, 2, 4, no_argument},
    Forward{"aten::miopen_convolution", 4, 3, 5, no_argument},
    Forward{"aten::mkldnn_convolution", 4, 3, 5, no_argument},
};

/// Where a backward one has its gradient of the output, and what it computes.
struct Backward {
  std::string_view name;
  std::size_t output;  ///< its gradient
  std::size_t input;
  std::size_t transposed;  ///< `no_argument`: it is not
  std::size_t mask;        ///< which gradients are wanted
};
constexpr std::size_t backward_weight = 2;
constexpr std::array backwards{
    Backward{"aten::convolution_backward", 0, 1, 7, 10},
    Backward{"aten::cudnn_convolution_backward", 1, 0, no_argument, 10},
};

const Forward* forward_named(std::string_view name) {
  const auto found = std::ranges::find(forwards, name, &Forward::name);
  return found == forwards.end() ? nullptr : &*found;
}

const Backward* backward_named(std::string_view name) {
  const auto found = std::ranges::find(backwards, name, &Backward::name);
  return found == backwards.end() ? nullptr : &*found;
}

/// Batch and channels stand in front of the plane.
bool is_batch_of_planes(const Sizes& sizes) { return sizes.size() >= 3 && sizes.size() <= 5; }

std::optional<std::int64_t> elements(std::span<const std::int64_t> sizes) {
  std::int64_t all = 1;
  for (const std::int64_t size : sizes) {
    const auto more = product_of({all, size});
    if (!more) return std::nullopt;
    all = *more;
  }
  return all;
}

/// Each element of a plane of the batch meets the whole weight_argument: twice, as product and sum. `plane` is the
/// output; of a transposed convolution the input.
FlopResult flops_over(const Sizes& plane, std::optional<std::int64_t> weights, std::int64_t times) {
  const auto positions = elements(std::span{plane}.subspan(2));
  const auto flops = positions && weights ? product_of({2, times, plane[0], *positions, *weights}) : std::nullopt;
  if (!flops) return not_countable(NotCountable::too_large);
  return Flops{.model = *flops, .executed = *flops, .kind = FlopClass::convolution};
}

/// (in + 2 · padding − dilation · (kernel − 1) − 1) / stride + 1 in each dimension; nothing if the arguments do not
/// fit, or were not recorded.
std::optional<Sizes> output_sizes(const Forward& forward, const OperatorInputs& inputs, const Sizes& in,
                                  const Sizes& kernel) {
  const auto strides = inputs.numbers(forward.stride);
  const auto paddings = inputs.numbers(forward.padding);
  const auto dilations = inputs.numbers(forward.dilation);
  if (!strides || !paddings || !dilations) return std::nullopt;
  const std::size_t planes = in.size() - 2;
  const auto at = [planes](const Sizes& list, std::size_t i) -> std::optional<std::int64_t> {
    if (list.size() == 1) return list[0];
    return list.size() == planes ? std::optional{list[i]} : std::nullopt;
  };
  constexpr std::int64_t most = std::int64_t{1} << 31;  // so that nothing below can overflow
  Sizes out{in[0], kernel[0]};
  for (std::size_t i = 0; i < planes; ++i) {
    const auto stride = at(*strides, i);
    const auto padding = at(*paddings, i);
    const auto dilation = at(*dilations, i);
    if (!stride || !padding || !dilation || *stride < 1) return std::nullopt;
    const bool small = *padding < most && *dilation < most && in[i + 2] < most && kernel[i + 2] < most;
    if (!small || kernel[i + 2] < 1) return std::nullopt;
    const std::int64_t reach = in[i + 2] + 2 * *padding - *dilation * (kernel[i + 2] - 1) - 1;
    if (reach < 0) return std::nullopt;
    out.push_back(reach / *stride + 1);
  }
  return out;
}

bool is_transposed(std::size_t argument, const OperatorInputs& inputs) {
  return argument != no_argument && inputs.flag(argument).value_or(false);
}

FlopResult flops_of_forward(const Forward& forward, const OperatorInputs& inputs,
                            const ConvolutionOutputs& convolutions) {
  const auto in = inputs.sizes_of(input);
  const auto kernel = inputs.sizes_of(weight_argument);
  const bool fits = in && kernel && is_batch_of_planes(*in) && kernel->size() == in->size();
  if (!fits) return not_countable(NotCountable::unusable_shapes);
  if (is_transposed(forward.transposed, inputs)) return flops_over(*in, elements(*kernel), 1);
  auto out = output_sizes(forward, inputs, *in, *kernel);
  if (!out && !inputs.numbers(forward.stride)) {
    out = convolutions.of(*in, *kernel);
    if (!out) return not_countable(NotCountable::not_told_by_shapes);
  }
  if (!out) return not_countable(NotCountable::unusable_shapes);
  return flops_over(*out, elements(*kernel), 1);
}

/// How many of the two gradients of input and weight_argument are wanted; that of the bias is a sum.
std::optional<std::int64_t> gradients_in(const Backward& backward, const OperatorInputs& inputs) {
  const auto mask = inputs.flags(backward.mask);
  if (!mask || mask->size() < 2) return std::nullopt;
  return ((*mask)[0] ? 1 : 0) + ((*mask)[1] ? 1 : 0);
}

FlopResult flops_of_backward(const Backward& backward, const OperatorInputs& inputs) {
  const auto out = inputs.sizes_of(backward.output);
  const auto in = inputs.sizes_of(backward.input);
  const auto kernel = inputs.sizes_of(backward_weight);
  const bool fits =
      out && in && kernel && is_batch_of_planes(*out) && in->size() == out->size() && kernel->size() == out->size();
  if (!fits) return not_countable(NotCountable::unusable_shapes);
  const auto gradients = gradients_in(backward, inputs);
  const Sizes& plane = is_transposed(backward.transposed, inputs) ? *in : *out;
  auto flops = flops_over(plane, elements(*kernel), gradients.value_or(2));
  if (!flops) return flops;
  flops->forward = false;
  flops->assumed = !gradients;
  return flops;
}

}  // namespace

bool is_convolution(std::string_view name) { return forward_named(name) != nullptr || backward_named(name) != nullptr; }

std::size_t convolution_weight(std::string_view name) {
  return backward_named(name) == nullptr ? weight_argument : backward_weight;
}

FlopResult flops_of_convolution(std::string_view name, const OperatorInputs& inputs,
                                const ConvolutionOutputs& convolutions) {
  if (const Forward* const forward = forward_named(name)) return flops_of_forward(*forward, inputs, convolutions);
  return flops_of_backward(*backward_named(name), inputs);
}

std::vector<std::string_view> ConvolutionOutputs::names() {
  std::vector<std::string_view> names;
  for (const Backward& backward : backwards) names.push_back(backward.name);
  return names;
}

void ConvolutionOutputs::learn(std::string_view name, const OperatorInputs& inputs) {
  const Backward* const backward = backward_named(name);
  if (backward == nullptr || is_transposed(backward->transposed, inputs)) return;
  const auto out = inputs.sizes_of(backward->output);
  const auto in = inputs.sizes_of(backward->input);
  const auto kernel = inputs.sizes_of(backward_weight);
  const bool fits = out && in && kernel && is_batch_of_planes(*out) && in->size() == out->size();
  if (!fits) return;
  const auto [found, added] = outputs_.try_emplace({*in, *kernel}, *out);
  if (!added && found->second != *out) found->second.reset();
}

std::optional<Sizes> ConvolutionOutputs::of(const Sizes& in, const Sizes& kernel) const {
  const auto found = outputs_.find({in, kernel});
  return found == outputs_.end() ? std::nullopt : found->second;
}

}  // namespace rankscope::analyzer
