#include "engine/pipeline/stage_replicas.h"

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

std::vector<std::vector<std::size_t>> buckets_of(const std::vector<at::Tensor>& parameters, BucketCaps caps) {
  std::vector<std::size_t> bytes;
  for (const auto& parameter : parameters) bytes.push_back(parameter.nbytes());
  return assign_buckets(bytes, reverse_order(bytes.size()), caps);
}

}  // namespace

StageReplicas::StageReplicas(std::shared_ptr<Model> stage, Comm* comm, StageUpdate update,
                             const OptimizerOptions& optimizer, BucketCaps caps)
    : stage_(std::move(stage)), comm_(comm), update_(update), options_(optimizer), parameters_(stage_->parameters()) {
  if (comm_ != nullptr && !parameters_.empty()) flat_.emplace(*stage_, buckets_of(parameters_, caps), comm_);
}

Result<void> StageReplicas::lay_out() {
  for (std::size_t i = 0; flat_ && i < flat_->units(); ++i) {
    Bucket& bucket = buckets_.emplace_back();
    RS_TRY(bucket.parameters, flat_->flattened(i, format("parameters of bucket {}", i)));
    if (is_sharded()) shards_.push_back(flat_->own_part(bucket.parameters));
  }
  optimizer_.emplace(is_sharded() ? shards_ : parameters_, options_);
  return {};
}

// Gradients become views of the bucket, so that nothing has to be copied back.
void StageReplicas::fill(std::size_t index) {
  const torch::NoGradGuard no_grad;
  Bucket& bucket = buckets_[index];
  bucket.gradients = flat_->zeros(index);
  const auto& members = flat_->layout().units()[index].parameters;
  for (std::size_t k = 0; k < members.size(); ++k) {
    at::Tensor& gradient = parameters_[members[k]].mutable_grad();
    const at::Tensor place = flat_->part_of(bucket.gradients, index, k);
    place.copy_(gradient);
    gradient = place;
  }
  bucket.gradients.div_(comm_->group().size());
}

void StageReplicas::reduce(std::chrono::nanoseconds delay) {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    fill(i);
    Bucket& bucket = buckets_[i];
    Operation operation{.op = CommOp::allreduce, .label = format("bucket {}", i), .tensor = bucket.gradients};
    if (is_sharded()) {
      bucket.own = at::empty({flat_->layout().shard_size(i)}, bucket.gradients.options());
      operation.op = CommOp::reduce_scatter;
      operation.outputs = {bucket.own};
    }
    if (i + 1 == buckets_.size()) operation.delay = delay;
    bucket.pending = comm_->enqueue(std::move(operation));
  }
}

Result<void> StageReplicas::finish_reduction() {
  for (Bucket& bucket : buckets_) RS_TRY_VOID(bucket.pending.wait());
  return {};
}

Result<std::vector<NamedTensor>> StageReplicas::gradients() const {
  if (!is_sharded()) return gradients_of(*stage_);
  std::vector<at::Tensor> own;
  for (const Bucket& bucket : buckets_) own.push_back(bucket.own);
  return flat_->gathered(own, "gradients to dump");
}

void StageReplicas::update(double rate) {
  optimizer_->scale_rate(rate);
  if (!is_sharded()) optimizer_->step_with_gradients(parameters_);
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& bucket = buckets_[i];
    if (is_sharded()) {
      optimizer_->step(i, bucket.own);
      bucket.pending = comm_->allgather_flat(bucket.parameters, flat_->own_part(bucket.parameters),
                                             format("parameters of bucket {}", i));
    }
    bucket.gradients.reset();
    bucket.own.reset();
  }
  if (is_sharded()) stage_->zero_grad(true);
}

Result<void> StageReplicas::finish_update() {
  if (!is_sharded()) return {};
  for (Bucket& bucket : buckets_) RS_TRY_VOID(bucket.pending.wait());
  return {};
}

void StageReplicas::add_to(TrainingState& state, const StateHolders& holders) const {
  if (is_sharded()) {
    if (flat_)
      add_sharded(state, *stage_, {flat_->layout(), comm_->group().position}, shards_, *optimizer_,
                  holders.keeps_wholes);
  } else {
    add_whole(state, *stage_, *optimizer_, holders);
  }
}

Result<void> StageReplicas::restore(const std::vector<at::Tensor>& values, std::size_t& next, std::int64_t steps) {
  if (!is_sharded()) return restore_whole(values, next, *stage_, *optimizer_, steps);
  if (!flat_) return {};
  RS_TRY_VOID(restore_sharded(values, next, {flat_->layout(), comm_->group().position}, shards_, *optimizer_, steps));
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    RS_TRY_VOID(comm_->allgather_flat(buckets_[i].parameters, shards_[i], format("parameters of bucket {}", i)).wait());
  }
  return {};
}

}  // namespace rankscope::trainer
