// Distributed data parallel: gradients are copied into buckets as backward produces them; a full
// bucket is reduced at once, strictly in index order, while backward goes on. Afterwards they are views of the buckets.
#include <algorithm>
#include <unordered_set>

#include "engine/data_parallel/ready_buckets.h"
#include "engine/data_parallel/sync.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using torch::autograd::Node;

Result<void> broadcast_packed(const std::vector<at::Tensor>& tensors, Comm& comm, const std::string& label) {
  if (tensors.empty()) return {};
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> flat;
  for (const auto& tensor : tensors) flat.push_back(tensor.flatten());
  const at::Tensor packed = at::cat(flat);
  RS_TRY_VOID(comm.broadcast(packed, 0, label).wait());
  std::int64_t offset = 0;
  for (const auto& tensor : tensors) {
    tensor.copy_(packed.slice(0, offset, offset + tensor.numel()).view_as(tensor));
    offset += tensor.numel();
  }
  return {};
}

std::vector<at::Tensor> floating(const std::vector<at::Tensor>& tensors) {
  std::vector<at::Tensor> result;
  std::ranges::copy_if(tensors, std::back_inserter(result), [](const at::Tensor& t) { return t.is_floating_point(); });
  return result;
}

class NoSync final : public GradientSync {
 public:
  Result<void> before_forward(Reduction) override { return {}; }
  Result<void> before_backward(const at::Tensor&) override { return {}; }
  Result<void> after_backward() override { return {}; }
  void delay_last(std::chrono::nanoseconds) override {}
};

class OwnReducer final : public GradientSync {
 public:
  OwnReducer(const Model& model, Comm& comm, SyncOptions options)
      : model_(model),
        comm_(comm),
        options_(options),
        ranks_(at::scalar_tensor(comm.group().size(), model.parameters().front().options().requires_grad(false))),
        ready_(model, {.ready = [this](std::size_t parameter, ReadyBuckets::Place place) { store(parameter, place); },
                       .full = [this](std::size_t bucket) { reduce(bucket); }}) {
    for (const auto& parameter : parameters()) sizes_.push_back(parameter.nbytes());
    make_buckets(reverse_order(sizes_.size()));
  }

  Result<void> before_forward(Reduction reduction) override {
    reduction_ = reduction;
    if (reduction == Reduction::now && options_.broadcast_buffers) return broadcast_buffers(model_, comm_);
    return {};
  }

  Result<void> before_backward(const at::Tensor& loss) override {
    if (reduction_ == Reduction::later) {
      ready_.ignore();
      if (options_.find_unused) mark_used(loss);
      return {};
    }
    ready_.watch();
    if (options_.find_unused) {
      mark_used(loss);
      mark_unused_as_ready(loss);
    }
    return {};
  }

  Result<void> after_backward() override {
    if (reduction_ == Reduction::later) return {};
    RS_TRY_VOID(ready_.check_all_full("use --find-unused if this is intended"));
    RS_TRY_VOID(agree_on_used());
    for (auto& bucket : buckets_) {
      RS_TRY_VOID(bucket.handle.wait());
      hand_back(bucket);
    }
    std::ranges::fill(used_, std::uint8_t{0});
    if (!rebuilt_ && !options_.find_unused && !options_.keep_order) return rebuild();
    return {};
  }

  void delay_last(std::chrono::nanoseconds delay) override { delay_ = delay; }

 private:
  struct Bucket {
    std::vector<std::size_t> parameters;
    std::vector<at::Tensor> views;  // of flat, one per parameter
    at::Tensor flat;
    Handle handle;
  };

  [[nodiscard]] const std::vector<at::Tensor>& parameters() const { return ready_.parameters(); }

  void make_buckets(const std::vector<std::int64_t>& order) {
    buckets_.clear();
    used_.assign(sizes_.size(), 0);
    auto assigned = assign_buckets(sizes_, order, options_.caps);
    ready_.assign(assigned);
    for (auto& indices : assigned) {
      Bucket bucket;
      std::int64_t total = 0;
      for (const auto index : indices) total += parameters()[index].numel();
      bucket.flat = at::zeros({total}, parameters().front().options().requires_grad(false));
      std::int64_t offset = 0;
      for (const auto index : indices) {
        const at::Tensor& parameter = parameters()[index];
        bucket.views.push_back(bucket.flat.slice(0, offset, offset + parameter.numel()).view(parameter.sizes()));
        offset += parameter.numel();
      }
      bucket.parameters = std::move(indices);
      buckets_.push_back(std::move(bucket));
    }
  }

  void store(std::size_t parameter, ReadyBuckets::Place place) {
    const at::Tensor& gradient = parameters()[parameter].grad();
    const torch::NoGradGuard no_grad;
    at::Tensor& view = buckets_[place.bucket].views[place.position];
    if (gradient.defined()) {
      at::div_out(view, gradient, ranks_);  // one pass over memory for the copy and the mean
    } else {
      view.zero_();
    }
  }

  void reduce(std::size_t index) {
    Bucket& bucket = buckets_[index];
    // Only the last bucket of a step is surely waited for: a delay of an earlier one could hide behind backward.
    const bool last = index + 1 == buckets_.size();
    bucket.handle = comm_.enqueue({.op = CommOp::allreduce,
                                   .label = format("bucket {}", index),
                                   .tensor = bucket.flat,
                                   .delay = last ? delay_ : std::chrono::nanoseconds{0}});
  }

  // As views of the bucket: it is left alone until the next backward, before which the update forgets all gradients.
  void hand_back(const Bucket& bucket) {
    for (std::size_t k = 0; k < bucket.parameters.size(); ++k) {
      const auto index = bucket.parameters[k];
      if (options_.find_unused && used_[index] == 0) continue;  // unused on all ranks: the gradient stays as it is
      parameters()[index].mutable_grad() = bucket.views[k];
    }
  }

  // All nodes that backward will visit; parameters whose accumulator is not among them get no gradient.
  std::unordered_set<const Node*> graph_of(const at::Tensor& loss) const {
    std::unordered_set<const Node*> seen;
    std::vector<Node*> open{loss.grad_fn().get()};
    while (!open.empty()) {
      Node* node = open.back();
      open.pop_back();
      if (node == nullptr || !seen.insert(node).second) continue;
      for (const auto& edge : node->next_edges()) open.push_back(edge.function.get());
    }
    return seen;
  }

  void mark_used(const at::Tensor& loss) {
    const auto graph = graph_of(loss);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (graph.contains(ready_.accumulator(i))) used_[i] = 1;
    }
  }

  void mark_unused_as_ready(const at::Tensor& loss) {
    const auto graph = graph_of(loss);
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (!graph.contains(ready_.accumulator(i))) ready_.set_ready(i);
    }
  }

  Result<void> agree_on_used() {
    if (!options_.find_unused) return {};
    at::Tensor counts = at::empty({static_cast<std::int64_t>(used_.size())}, at::kInt);
    auto* const data = counts.data_ptr<int>();
    std::ranges::copy(used_, data);
    RS_TRY_VOID(comm_.allreduce(counts, "used parameters").wait());
    for (std::size_t i = 0; i < used_.size(); ++i) used_[i] = data[i] > 0 ? 1 : 0;
    return {};
  }

  // The order that rank 0 has seen in its first backward beats the guess that it is the reverse of registration.
  Result<void> rebuild() {
    rebuilt_ = true;
    const at::Tensor order = at::tensor(at::ArrayRef<std::int64_t>{ready_.order()}, at::kLong);
    RS_TRY_VOID(comm_.broadcast(order, 0, "bucket order").wait());
    const auto* const data = order.data_ptr<std::int64_t>();
    make_buckets({data, data + order.numel()});
    return {};
  }

  const Model& model_;
  Comm& comm_;
  SyncOptions options_;
  at::Tensor ranks_;  // how many, of the parameters' type
  ReadyBuckets ready_;
  std::vector<std::size_t> sizes_;
  std::vector<Bucket> buckets_;
  std::vector<std::uint8_t> used_;  // since the last reduction, by any micro-step
  bool rebuilt_ = false;
  Reduction reduction_ = Reduction::later;
  std::chrono::nanoseconds delay_{0};
};

}  // namespace

Result<void> broadcast_buffers(const torch::nn::Module& module, Comm& comm) {
  return broadcast_packed(floating(module.buffers()), comm, "buffers");
}

Result<void> broadcast_state(const Model& model, Comm& comm) {
  RS_TRY_VOID(broadcast_packed(model.parameters(), comm, "parameters"));
  return broadcast_buffers(model, comm);
}

std::unique_ptr<GradientSync> make_no_sync() { return std::make_unique<NoSync>(); }

Result<std::unique_ptr<GradientSync>> make_own_sync(const Model& model, Comm& comm, SyncOptions options) {
  RS_TRY_VOID(broadcast_state(model, comm));
  return std::make_unique<OwnReducer>(model, comm, options);
}

}  // namespace rankscope::trainer
