#include "engine/data_parallel/tensor_gradients.h"

#include "engine/data_parallel/sync.h"

namespace rankscope::trainer {
namespace {

class TensorSync final : public GradientSync {
 public:
  TensorSync(const Model& model, Comm& comm) : model_(model), comm_(comm) {}

  Result<void> before_forward(Reduction reduction) override {
    reduction_ = reduction;
    return {};
  }
  Result<void> before_backward(const at::Tensor&) override { return {}; }
  Result<void> after_backward() override {
    return reduction_ == Reduction::now ? sum_gradient_terms(model_, comm_) : Result<void>{};
  }
  void delay_last(std::chrono::nanoseconds delay) override { comm_.delay_next(delay); }

 private:
  const Model& model_;
  Comm& comm_;
  Reduction reduction_ = Reduction::later;
};

}  // namespace

Result<void> sum_gradient_terms(const Model& model, Comm& comm) {
  const auto parameters = model.with_gradient_terms();
  if (parameters.empty()) return {};
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> terms;
  for (const auto& parameter : parameters) terms.push_back(parameter.grad().flatten());
  const at::Tensor packed = at::cat(terms);
  RS_TRY_VOID(comm.allreduce(packed, "terms of gradients").wait());
  std::int64_t offset = 0;
  for (const auto& parameter : parameters) {
    parameter.mutable_grad().copy_(packed.narrow(0, offset, parameter.numel()).view_as(parameter));
    offset += parameter.numel();
  }
  return {};
}

Result<at::Tensor> put_together(const at::Tensor& tensor, const TensorPart& part, Comm& comm,
                                const std::string& label) {
  if (part.parts == 1) return tensor;
  RS_CHECK(part.parts == comm.group().size());
  const at::Tensor own = tensor.contiguous();
  std::vector<at::Tensor> all;
  for (std::int64_t i = 0; i < part.parts; ++i) all.push_back(at::empty_like(own));
  RS_TRY_VOID(comm.allgather(all, own, label).wait());
  const auto dimension = static_cast<std::int64_t>(part.dimension);
  const at::Tensor whole = at::empty(whole_shape(part, own.sizes()), own.options());
  TensorPart of_rank = part;
  for (of_rank.part = 0; of_rank.part < part.parts; ++of_rank.part) {
    const at::Tensor& has = all[static_cast<std::size_t>(of_rank.part)];
    for (const Stretch& stretch : stretches_of(of_rank, whole.size(dimension))) {
      whole.narrow(dimension, stretch.in_whole, stretch.length)
          .copy_(has.narrow(dimension, stretch.in_part, stretch.length));
    }
  }
  return whole;
}

std::unique_ptr<GradientSync> make_tensor_sync(const Model& model, Comm& comm) {
  return std::make_unique<TensorSync>(model, comm);
}

}  // namespace rankscope::trainer
