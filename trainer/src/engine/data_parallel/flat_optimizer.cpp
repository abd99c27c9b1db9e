#include "engine/data_parallel/flat_optimizer.h"

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using torch::optim::AdamWParamState;
using torch::optim::SGDParamState;

std::vector<const char*> state_names(const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::sgd:
      return options.momentum > 0 ? std::vector<const char*>{"momentum"} : std::vector<const char*>{};
    case OptimizerKind::adamw:
      return {"exp_avg", "exp_avg_sq"};
  }
  return {};
}

}  // namespace

FlatOptimizer::FlatOptimizer(const std::vector<at::Tensor>& shards, const OptimizerOptions& options)
    : options_(options) {
  for (const at::Tensor& values : shards) shards_.push_back({values, make_optimizer({values}, options)});
}

void FlatOptimizer::step(std::size_t index, const at::Tensor& gradient) {
  Shard& shard = shards_[index];
  RS_CHECK(gradient.sizes() == shard.values.sizes());
  shard.values.mutable_grad() = gradient;
  shard.optimizer->step();
  shard.values.mutable_grad().reset();
  ++shard.steps;
}

void FlatOptimizer::step_with_gradients(const std::vector<at::Tensor>& shards) {
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const at::Tensor gradient = shards[i].grad();
    if (gradient.defined()) step(i, gradient);
  }
}

void FlatOptimizer::scale_rate(double factor) {
  for (Shard& shard : shards_)
    for (auto& group : shard.optimizer->param_groups()) group.options().set_lr(options_.learning_rate * factor);
}

std::vector<NamedTensor> FlatOptimizer::state(std::size_t index) const {
  const Shard& shard = shards_[index];
  std::vector<NamedTensor> named;
  for (const char* name : state_names(options_)) named.push_back({name, {}});
  const auto& all = shard.optimizer->state();
  if (const auto found = all.find(shard.values.unsafeGetTensorImpl()); found != all.end()) {
    switch (options_.kind) {
      case OptimizerKind::sgd:
        if (!named.empty()) named[0].tensor = static_cast<const SGDParamState&>(*found->second).momentum_buffer();
        break;
      case OptimizerKind::adamw: {
        const auto& moments = static_cast<const AdamWParamState&>(*found->second);
        named[0].tensor = moments.exp_avg();
        named[1].tensor = moments.exp_avg_sq();
        break;
      }
    }
  }
  for (auto& [name, tensor] : named)
    if (!tensor.defined()) tensor = at::zeros_like(shard.values);
  return named;
}

Result<void> FlatOptimizer::restore(std::size_t index, std::int64_t steps, const std::vector<NamedTensor>& state) {
  Shard& shard = shards_[index];
  const auto names = state_names(options_);
  bool fits = state.size() == names.size();
  for (std::size_t i = 0; fits && i < names.size(); ++i)
    fits = state[i].name == names[i] && state[i].tensor.sizes() == shard.values.sizes();
  if (!fits) {
    return fail(ErrorKind::unreadable,
                format("the optimizer state of shard {} must be {} with {} each", index,
                       counted(names.size(), "tensor"), counted(shard.values.numel(), "element")));
  }
  std::unique_ptr<torch::optim::OptimizerParamState> restored;
  switch (options_.kind) {
    case OptimizerKind::sgd: {
      if (names.empty()) break;
      auto own = std::make_unique<SGDParamState>();
      own->momentum_buffer(state[0].tensor.clone());
      restored = std::move(own);
      break;
    }
    case OptimizerKind::adamw: {
      auto own = std::make_unique<AdamWParamState>();
      own->step(steps);
      own->exp_avg(state[0].tensor.clone());
      own->exp_avg_sq(state[1].tensor.clone());
      restored = std::move(own);
      break;
    }
  }
  if (restored != nullptr) shard.optimizer->state()[shard.values.unsafeGetTensorImpl()] = std::move(restored);
  shard.steps = steps;
  return {};
}

}  // namespace rankscope::trainer
