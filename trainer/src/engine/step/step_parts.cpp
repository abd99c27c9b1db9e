#include "engine/step/step_parts.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "engine/layers/precision.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr double auxiliary_weight = 0.3;

}  // namespace

Inputs inputs_of(const Batch& batch, const SampleShape& shape, DataType dtype) {
  const auto labels = at::tensor(at::ArrayRef<std::int64_t>{batch.labels}, at::kLong);
  if (shape.sequence > 0) {
    const auto tokens = at::tensor(at::ArrayRef<std::int64_t>{batch.tokens}, at::kLong);
    const std::array<std::int64_t, 2> rows{batch.size, shape.sequence};
    if (!shape.is_ragged) return {tokens.view(rows), labels};
    const std::int64_t longest = std::ranges::max(batch.lengths);
    return {tokens.view(rows).narrow(1, 0, longest).contiguous(), labels.view(rows).narrow(1, 0, longest).contiguous()};
  }
  const auto values = at::tensor(at::ArrayRef<float>{batch.values}, at::kFloat);
  return {values.view({batch.size, shape.channels, shape.height, shape.width}).to(torch_type(dtype)), labels};
}

Forward run_forward(Model& model, const Inputs& inputs, Auxiliary head,
                    const std::function<void(std::size_t)>& after_block) {
  const Model::Output output = model.forward(inputs.data, head, after_block);
  Loss loss = model.loss()(output.logits, inputs.labels);
  if (output.auxiliary.defined()) {
    loss.mean = loss.mean + auxiliary_weight * at::cross_entropy_loss(in_full(output.auxiliary), inputs.labels);
  }
  return {loss.mean, loss.correct};
}

std::unique_ptr<torch::optim::Optimizer> make_optimizer(std::vector<at::Tensor> parameters, const OptimizerOptions& o) {
  switch (o.kind) {
    case OptimizerKind::sgd:
      return std::make_unique<torch::optim::SGD>(
          std::move(parameters),
          torch::optim::SGDOptions(o.learning_rate).momentum(o.momentum).weight_decay(o.weight_decay));
    case OptimizerKind::adamw:
      return std::make_unique<torch::optim::AdamW>(
          std::move(parameters), torch::optim::AdamWOptions(o.learning_rate).weight_decay(o.weight_decay));
  }
  return nullptr;
}

KeptBuffers::KeptBuffers(const torch::nn::Module& module) : buffers_(module.buffers()) {
  for (const auto& buffer : buffers_) before_.push_back(buffer.clone());
}
KeptBuffers::~KeptBuffers() {
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < buffers_.size(); ++i) buffers_[i].copy_(before_[i]);
}

std::chrono::nanoseconds cpu_time_of(clockid_t clock) {
  timespec time{};
  RS_CHECK(clock_gettime(clock, &time) == 0);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

std::chrono::nanoseconds cpu_time_of_step(Model& model, const Inputs& inputs) {
  const KeptBuffers statistics{model};
  std::chrono::nanoseconds begin{0};
  for (int pass = 0; pass < 2; ++pass) {
    begin = cpu_time_of(CLOCK_PROCESS_CPUTIME_ID);
    run_forward(model, inputs, Auxiliary::computed, [](std::size_t) {}).loss.backward();
    model.zero_grad(true);
  }
  return cpu_time_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
}

BackwardPace::BackwardPace(const Model& model, Pacer& pacer) : pacer_(pacer) {
  using torch::autograd::variable_list;
  for (std::size_t block = 0; block < model.blocks().size(); ++block) {
    const auto parameters = model.blocks()[block]->parameters();
    parameters_.push_back(parameters.size());
    for (const auto& parameter : parameters) {
      auto node = torch::autograd::impl::grad_accumulator(parameter);
      node->add_post_hook(std::make_unique<torch::autograd::utils::LambdaPostHook>(
          [this, block](const variable_list& outputs, const variable_list&) {
            accumulated(block);
            return outputs;
          }));
      accumulators_.push_back(std::move(node));  // the tensor holds it weakly
    }
  }
}

void BackwardPace::begin() {
  missing_ = parameters_;
  pacer_.begin_backward();
}

void BackwardPace::accumulated(std::size_t block) {
  if (missing_.empty()) return;  // a backward outside of training steps
  if (--missing_[block] == 0) pacer_.backward_done(block);
}

Result<std::unique_ptr<GradientDump>> GradientDump::open(const std::string& path) {
  auto dump = std::make_unique<GradientDump>();
  dump->path_ = path;
  dump->file_.open(path);
  if (!dump->file_) return fail(ErrorKind::cannot_write, format("{} cannot be written (--dump-gradients)", path));
  return dump;
}

std::vector<NamedTensor> gradients_of(const Model& model) {
  std::vector<NamedTensor> all;
  for (const auto& parameter : model.named_parameters()) all.push_back({parameter.key(), parameter.value().grad()});
  return all;
}

Result<void> GradientDump::gradients(std::int64_t step, const std::vector<NamedTensor>& gradients) {
  file_ << format("step {}\n", step);
  for (const auto& [name, gradient] : gradients) {
    file_ << "gradient " << name;
    if (gradient.defined()) {
      const at::Tensor values = gradient.to(at::kCPU, at::kDouble).contiguous();
      const auto* const data = values.data_ptr<double>();
      for (std::int64_t i = 0; i < values.numel(); ++i) file_ << format(" {}", data[i]);
    } else {
      file_ << " none";
    }
    file_ << '\n';
  }
  return flushed();
}

Result<void> GradientDump::loss(double mean) {
  file_ << format("loss {}\n", mean);
  return flushed();
}

Result<void> GradientDump::flushed() {
  errno = 0;
  if (file_.flush()) return {};
  return fail(ErrorKind::cannot_write,
              format("{} cannot be written: {} (--dump-gradients)", path_,
                     errno != 0 ? std::strerror(errno) : "the file could not be written completely"));
}

}  // namespace rankscope::trainer
