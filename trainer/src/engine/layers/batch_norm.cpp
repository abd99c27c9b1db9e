#include "engine/layers/batch_norm.h"

#include <stdexcept>

#include "engine/layers/precision.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const std::vector<std::int64_t> all_but_channel{0, 2, 3};

at::Tensor per_channel(const at::Tensor& values) { return values.view({1, -1, 1, 1}); }

/// Count, means and sums of squared differences from them, per channel.
struct Moments {
  double count = 0;
  at::Tensor mean;
  at::Tensor squares;
};

// Chan et al. 1979; in the order of the ranks, so that it is the same on all.
Moments merged(const Moments& a, const Moments& b) {
  const double count = a.count + b.count;
  const at::Tensor delta = b.mean - a.mean;
  return {count, a.mean + delta * (b.count / count),
          a.squares + b.squares + delta * delta * (a.count * b.count / count)};
}

Moments moments_of_all(const at::Tensor& input, Comm& group, const std::string& label) {
  const auto channels = input.size(1);
  const at::Tensor mean = input.mean(all_but_channel);
  const at::Tensor squares = (input - per_channel(mean)).square().sum(all_but_channel);
  const at::Tensor count =
      at::full({1}, static_cast<double>(input.numel()) / static_cast<double>(channels), input.options());
  const at::Tensor own = at::cat({count, mean, squares});
  const std::int64_t ranks = group.group().size();
  const at::Tensor all = at::empty({ranks, own.numel()}, own.options());
  group.allgather_flat(all, own, label).wait_or_throw();
  Moments sum;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const Moments next{all[rank][0].item<double>(), all[rank].narrow(0, 1, channels),
                       all[rank].narrow(0, 1 + channels, channels)};
    sum = rank == 0 ? next : merged(sum, next);
  }
  return sum;
}

struct Running {
  at::Tensor mean;
  at::Tensor variance;
  double momentum;
};

struct SynchronizedNorm : torch::autograd::Function<SynchronizedNorm> {
  // autograd copies what it hands on.  NOLINTBEGIN(readability-function-size, performance-unnecessary-value-param)
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input, const at::Tensor& weight,
                            const at::Tensor& bias, Running running, double eps, Comm* group, const std::string& name) {
    // NOLINTEND(readability-function-size, performance-unnecessary-value-param)
    const Moments all = moments_of_all(input, *group, name + " forward");
    if (all.count <= 1) {
      throw std::runtime_error{
          format("{}: batch normalization needs more than one value per channel; use a larger batch", name)};
    }
    const at::Tensor scale = (all.squares / all.count + eps).rsqrt();
    running.mean.lerp_(all.mean, running.momentum);
    running.variance.lerp_(all.squares / (all.count - 1), running.momentum);
    const at::Tensor normal = (input - per_channel(all.mean)) * per_channel(scale);
    context->save_for_backward({normal, weight, scale});
    context->saved_data["count"] = all.count;
    context->saved_data["group"] = reinterpret_cast<std::int64_t>(group);
    context->saved_data["name"] = name;
    return normal * per_channel(weight) + per_channel(bias);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const at::Tensor& normal = saved[0];
    auto* const group = reinterpret_cast<Comm*>(context->saved_data["group"].toInt());
    const at::Tensor of_bias = gradients[0].sum(all_but_channel);
    const at::Tensor of_weight = (gradients[0] * normal).sum(all_but_channel);
    const at::Tensor sums = at::stack({of_bias, of_weight});
    group->allreduce(sums, context->saved_data["name"].toStringRef() + " backward").wait_or_throw();
    const at::Tensor means = sums / context->saved_data["count"].toDouble();
    const at::Tensor of_input =
        per_channel(saved[2] * saved[1]) * (gradients[0] - per_channel(means[0]) - normal * per_channel(means[1]));
    return {of_input, of_weight, of_bias, {}, {}, {}, {}};
  }
};

}  // namespace

void BatchNorm2dImpl::synchronize(Comm& group, std::string name) {
  group_ = &group;
  name_ = std::move(name);
}

at::Tensor BatchNorm2dImpl::forward(const at::Tensor& input) {
  if (group_ == nullptr || !is_training()) return torch::nn::BatchNorm2dImpl::forward(input);
  num_batches_tracked.add_(1);
  const Running running{running_mean, running_var, *options.momentum()};
  return SynchronizedNorm::apply(in_full(input), weight, bias, running, options.eps(), group_, name_)
      .to(input.scalar_type());
}

void synchronize_batch_norms(const torch::nn::Module& model, Comm& group) {
  for (const auto& entry : model.named_modules("", /*include_self=*/false)) {
    if (auto* norm = dynamic_cast<BatchNorm2dImpl*>(entry.value().get())) norm->synchronize(group, entry.key());
  }
}

}  // namespace rankscope::trainer
