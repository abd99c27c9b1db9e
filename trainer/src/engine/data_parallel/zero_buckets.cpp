// ZeRO stages 1 and 2: gradients are copied into buckets as backward produces them, and each full bucket is reduced
// into the shards of its owners while backward goes on. Stage 1 keeps its gradients until the update, and reduces only
// in the last micro-step; stage 2 reduces in each, adds up the shards, and drops the rest.
#include <optional>
#include <stdexcept>
#include <utility>

#include "engine/data_parallel/flat_parameters.h"
#include "engine/data_parallel/ready_buckets.h"
#include "engine/data_parallel/zero.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using annotate::Kind;

// The optimizer's state lies as the buckets do, so their order stays: not the one that backward is seen to have, but
// the reverse of registration, which is that of the blocks.
std::vector<std::vector<std::size_t>> buckets_of(const Model& model, BucketCaps caps) {
  std::vector<std::size_t> bytes;
  for (const auto& parameter : model.parameters()) bytes.push_back(parameter.nbytes());
  return assign_buckets(bytes, reverse_order(bytes.size()), caps);
}

class ZeroBuckets final : public ZeroSync {
 public:
  ZeroBuckets(const Model& model, Comm* comm, const ZeroOptions& options)
      : model_(model),
        comm_(comm),
        options_(options),
        flat_(model, buckets_of(model, options.caps), comm),
        ready_(model, {.ready = [this](std::size_t parameter, ReadyBuckets::Place place) { store(parameter, place); },
                       .full = [this](std::size_t bucket) { reduce(bucket); }}),
        buckets_(flat_.units()) {
    std::vector<std::vector<std::size_t>> members;
    for (const FlatUnit& unit : flat_.layout().units()) members.push_back(unit.parameters);
    ready_.assign(members);
  }

  Result<void> lay_out() {
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      RS_TRY(buckets_[i].parameters, flat_.flattened(i, format("parameters of bucket {}", i)));
      shards_.push_back(flat_.own_part(buckets_[i].parameters));
    }
    optimizer_.emplace(shards_, options_.optimizer);
    return comm_ != nullptr ? broadcast_buffers(model_, *comm_) : Result<void>{};
  }

  Result<void> before_forward(Reduction reduction) override {
    reduction_ = reduction;
    if (reduction == Reduction::now && comm_ != nullptr && options_.broadcast_buffers)
      return broadcast_buffers(model_, *comm_);
    return {};
  }

  Result<void> before_backward(const at::Tensor&) override {
    if (reduces())
      ready_.watch();
    else
      ready_.ignore();
    return {};
  }

  Result<void> after_backward() override {
    if (!reduces()) return {};
    RS_TRY_VOID(ready_.check_all_full("ZeRO needs all gradients; train this model with --parallel ddp --find-unused"));
    for (auto& bucket : buckets_) RS_TRY_VOID(settle(bucket));
    return {};
  }

  void delay_last(std::chrono::nanoseconds delay) override { delay_ = delay; }

  Result<void> update(Pacer& pacer) override {
    std::vector<Handle> gathering;
    {
      annotate::Span span{Kind::optimizer, "optimizer"};
      pacer.begin_optimizer();
      for (std::size_t i = 0; i < buckets_.size(); ++i) {
        optimizer_->step(i, gradient_of(buckets_[i]));
        buckets_[i].whole.reset();
        buckets_[i].own.reset();
        if (comm_ != nullptr) gathering.push_back(gather(i));
      }
      pacer.optimizer_done();
    }
    for (auto& handle : gathering) RS_TRY_VOID(handle.wait());
    return {};
  }

  Result<std::vector<NamedTensor>> gradients() override {
    std::vector<at::Tensor> own;
    for (const auto& bucket : buckets_) own.push_back(gradient_of(bucket));
    return flat_.gathered(own, "gradients to dump");
  }

  Owned owned() override { return {flat_.layout(), shards_, *optimizer_}; }

  Result<void> parameters_were_set() override {
    if (comm_ == nullptr) return {};
    for (std::size_t i = 0; i < buckets_.size(); ++i) RS_TRY_VOID(gather(i).wait());
    return {};
  }

 private:
  struct Bucket {
    at::Tensor parameters;  // of which those of the model are views
    at::Tensor whole;       // gradients, from the first one of the step
    at::Tensor own;         // this rank's part of the reduced ones
    Handle reducing;
  };

  [[nodiscard]] bool keeps_gradients() const { return options_.stage == ZeroStage::optimizer; }
  [[nodiscard]] bool reduces() const { return reduction_ == Reduction::now || !keeps_gradients(); }
  [[nodiscard]] at::Tensor gradient_of(const Bucket& bucket) const {
    return keeps_gradients() ? flat_.own_part(bucket.whole) : bucket.own;
  }

  void store(std::size_t parameter, ReadyBuckets::Place place) {
    const torch::NoGradGuard no_grad;
    at::Tensor& whole = buckets_[place.bucket].whole;
    if (!whole.defined()) whole = flat_.zeros(place.bucket);
    at::Tensor& gradient = ready_.parameters()[parameter].mutable_grad();
    if (!gradient.defined()) return;
    flat_.part_of(whole, place.bucket, place.position).copy_(gradient);
    gradient.reset();
  }

  void reduce(std::size_t index) {
    // While this one is on its way the next one fills; more of them at once would be the memory that stage 2 saves.
    if (!keeps_gradients() && index > 0) {
      // Autograd hears of failures as exceptions only.
      if (const auto settled = settle(buckets_[index - 1]); !settled) throw std::runtime_error(settled.error().message);
    }
    Bucket& bucket = buckets_[index];
    if (comm_ == nullptr) return;
    bucket.whole.div_(comm_->group().size());
    const bool last = index + 1 == buckets_.size() && reduction_ == Reduction::now;
    bucket.reducing = comm_->enqueue({.op = CommOp::reduce_scatter,
                                      .label = format("bucket {}", index),
                                      .tensor = bucket.whole,
                                      .outputs = {flat_.own_part(bucket.whole)},
                                      .delay = last ? delay_ : std::chrono::nanoseconds{0}});
  }

  // Waits for what has been reduced in this backward, and takes it over.
  Result<void> settle(Bucket& bucket) {
    if (Handle reducing = std::exchange(bucket.reducing, {}); reducing.valid()) RS_TRY_VOID(reducing.wait());
    if (keeps_gradients() || !bucket.whole.defined()) return {};
    const torch::NoGradGuard no_grad;
    const at::Tensor part = flat_.own_part(bucket.whole);
    if (bucket.own.defined())
      bucket.own.add_(part);
    else
      bucket.own = part.clone();
    bucket.whole.reset();
    return {};
  }

  Handle gather(std::size_t index) {
    return comm_->allgather_flat(buckets_[index].parameters, shards_[index], format("parameters of bucket {}", index));
  }

  const Model& model_;
  Comm* comm_;
  ZeroOptions options_;
  FlatParameters flat_;
  ReadyBuckets ready_;
  std::vector<Bucket> buckets_;
  std::vector<at::Tensor> shards_;  // of the parameters of each bucket
  std::optional<FlatOptimizer> optimizer_;
  Reduction reduction_ = Reduction::later;
  std::chrono::nanoseconds delay_{0};
};

}  // namespace

Result<std::unique_ptr<ZeroSync>> make_zero_buckets(const Model& model, Comm* comm, const ZeroOptions& options) {
  auto sync = std::make_unique<ZeroBuckets>(model, comm, options);
  RS_TRY_VOID(sync->lay_out());
  return sync;
}

Result<Zero> make_zero(ComputationPlan plan, Comm* comm, const ZeroOptions& options) {
  if (options.stage == ZeroStage::parameters) return make_zero_units(plan, comm, options);
  const Model& model = plan.model;
  Zero zero;
  zero.computation = compute_here(std::move(plan));  // its hooks run before those of the buckets
  RS_TRY(zero.sync, make_zero_buckets(model, comm, options));
  return zero;
}

}  // namespace rankscope::trainer
