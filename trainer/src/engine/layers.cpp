#include "engine/layers.h"

#include <utility>

#include "rankscope/core/result.h"

namespace rankscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

thread_local WeightQueue* current_queue = nullptr;

void accumulate(at::Tensor weight, const at::Tensor& part) {
  at::Tensor& gradient = weight.mutable_grad();
  if (gradient.defined())
    gradient.add_(part);
  else
    gradient = part;
}

/// Of input and weight, which are what was saved; one row of the gradient per sample or token.
variable_list linear_gradients(AutogradContext& context, const at::Tensor& gradient) {
  const auto saved = context.get_saved_variables();
  at::Tensor of_input;
  if (context.needs_input_grad(0)) of_input = gradient.matmul(saved[1]);
  const at::Tensor of_weight = weight_gradient(
      saved[1], [gradient, input = saved[0]] { return gradient.flatten(0, -2).t().mm(input.flatten(0, -2)); });
  return {of_input, of_weight};
}

struct CutLinear : torch::autograd::Function<CutLinear> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias) {
    context->save_for_backward({input, weight});
    return at::linear(input, weight, bias);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    variable_list all = linear_gradients(*context, gradients[0]);
    all.push_back(gradients[0].flatten(0, -2).sum(0));
    return all;
  }
};

struct CutLinearWithoutBias : torch::autograd::Function<CutLinearWithoutBias> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight) {
    context->save_for_backward({input, weight});
    return at::linear(input, weight);
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return linear_gradients(*context, gradients[0]);
  }
};

struct CutConvolution : torch::autograd::Function<CutConvolution> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            std::int64_t stride, std::int64_t padding, std::int64_t groups) {
    context->save_for_backward({input, weight});
    context->saved_data["groups"] = groups;
    context->saved_data["stride"] = stride;
    context->saved_data["padding"] = padding;
    return at::conv2d(input, weight, {}, stride, padding, 1, groups);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto part = [gradient = gradients[0], input = saved[0], weight = saved[1],
                       stride = context->saved_data["stride"].toInt(), padding = context->saved_data["padding"].toInt(),
                       groups = context->saved_data["groups"].toInt()](bool of_input) {
      const auto both =
          at::convolution_backward(gradient, input, weight, at::OptionalIntArrayRef{}, {stride, stride},
                                   {padding, padding}, {1, 1}, false, {0, 0}, groups, {of_input, !of_input, false});
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
  current_queue->add([weight, gradient = std::move(gradient)] { accumulate(weight, gradient()); });
  return {};
}

void WeightQueue::run() {
  const torch::NoGradGuard no_grad;
  for (const auto& gradient : later_) gradient();
  later_.clear();
}

CutBackward::CutBackward(WeightQueue& queue) : before_(std::exchange(current_queue, &queue)) {}
CutBackward::~CutBackward() { current_queue = before_; }

at::Tensor LinearImpl::forward(const at::Tensor& input) {
  if (current_queue == nullptr) return torch::nn::LinearImpl::forward(input);
  return bias.defined() ? CutLinear::apply(input, weight, bias) : CutLinearWithoutBias::apply(input, weight);
}

at::Tensor LinearImpl::without_bias(const at::Tensor& input) {
  return current_queue == nullptr ? at::linear(input, weight) : CutLinearWithoutBias::apply(input, weight);
}

bool is_backward_cut() { return current_queue != nullptr; }

at::Tensor cut_convolution(const at::Tensor& input, const at::Tensor& weight, const Window& window,
                           std::int64_t groups) {
  return CutConvolution::apply(input, weight, window.stride, window.padding, groups);
}

}  // namespace rankscope::trainer
