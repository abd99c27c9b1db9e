#include "engine/layers/layers.h"

#include <atomic>
#include <utility>

#include "engine/layers/precision.h"
#include "rankscope/core/result.h"

namespace rankscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Of the process: on a GPU a backward runs on a thread of autograd, and only one thread makes forwards and backwards
// that are cut.
std::atomic<WeightQueue*> current_queue = nullptr;

void accumulate(const at::Tensor& weight, const at::Tensor& part) {
  at::Tensor& gradient = weight.mutable_grad();
  if (gradient.defined())
    gradient.add_(part);
  else
    gradient = part.to(weight.scalar_type());
}

/// A weight as it was used for the output whose gradient this is.
at::Tensor as_used(const at::Tensor& weight, const at::Tensor& gradient) { return weight.to(gradient.scalar_type()); }

/// Of input and weight, which are what was saved; one row of the gradient per sample or token.
variable_list linear_gradients(AutogradContext& context, const at::Tensor& gradient) {
  const auto saved = context.get_saved_variables();
  at::Tensor of_input;
  if (context.needs_input_grad(0)) of_input = gradient.matmul(as_used(saved[1], gradient));
  const at::Tensor of_weight = weight_gradient(
      saved[1], [gradient, input = saved[0]] { return gradient.flatten(0, -2).t().mm(input.flatten(0, -2)); });
  return {of_input, of_weight};
}

struct OwnLinear : torch::autograd::Function<OwnLinear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias) {
    context->save_for_backward({input, weight});
    return at::linear(input, lowered(weight), lowered(bias));
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list all = linear_gradients(*context, gradients[0]);
    all.push_back(gradients[0].flatten(0, -2).sum({0}, false, context->get_saved_variables()[1].scalar_type()));
    return all;
  }
};

struct OwnLinearWithoutBias : torch::autograd::Function<OwnLinearWithoutBias> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight) {
    context->save_for_backward({input, weight});
    return at::linear(input, lowered(weight));
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return linear_gradients(*context, gradients[0]);
  }
};

struct OwnConvolution : torch::autograd::Function<OwnConvolution> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            std::int64_t stride, const Padding& padding, std::int64_t groups) {
    context->save_for_backward({input, weight});
    context->saved_data["groups"] = groups;
    context->saved_data["stride"] = stride;
    context->saved_data["row_padding"] = padding[0];
    context->saved_data["column_padding"] = padding[1];
    return at::conv2d(input, lowered(weight), {}, stride, padding, 1, groups);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto number = [&](const char* name) { return context->saved_data[name].toInt(); };
    const auto part = [gradient = gradients[0], input = saved[0], weight = saved[1], stride = number("stride"),
                       padding = Padding{number("row_padding"), number("column_padding")},
                       groups = number("groups")](bool of_input) {
      const auto both = at::convolution_backward(gradient, input, as_used(weight, gradient), at::OptionalIntArrayRef{},
                                                 {stride, stride}, padding, {1, 1}, false, {0, 0}, groups,
                                                 {of_input, !of_input, false});
      return of_input ? std::get<0>(both) : std::get<1>(both);
    };
    at::Tensor of_input;
    if (context->needs_input_grad(0)) of_input = part(true);
    return {of_input, weight_gradient(saved[1], [part] { return part(false); }), {}, {}, {}};
  }
};

}  // namespace

at::Tensor weight_gradient(const at::Tensor& weight, std::function<at::Tensor()> gradient) {
  if (current_queue == nullptr) return gradient();
  current_queue.load()->add([weight, gradient = std::move(gradient)] { accumulate(weight, gradient()); });
  return {};
}

void WeightQueue::run() {
  const torch::NoGradGuard no_grad;
  for (const auto& gradient : later_) gradient();
  later_.clear();
}

CutBackward::CutBackward(WeightQueue& queue) : before_(current_queue.exchange(&queue)) {}
CutBackward::~CutBackward() { current_queue = before_; }

at::Tensor LinearImpl::forward(const at::Tensor& input) {
  if (!has_own_backward()) return torch::nn::LinearImpl::forward(input);
  return bias.defined() ? OwnLinear::apply(lowered(input), weight, bias)
                        : OwnLinearWithoutBias::apply(lowered(input), weight);
}

at::Tensor LinearImpl::without_bias(const at::Tensor& input) {
  return has_own_backward() ? OwnLinearWithoutBias::apply(lowered(input), weight) : at::linear(input, weight);
}

bool has_own_backward() { return current_queue != nullptr || is_mixed(); }

at::Tensor own_convolution(const at::Tensor& input, const at::Tensor& weight, std::int64_t stride,
                           const Padding& padding, std::int64_t groups) {
  return OwnConvolution::apply(lowered(input), weight, stride, padding, groups);
}

}  // namespace rankscope::trainer
