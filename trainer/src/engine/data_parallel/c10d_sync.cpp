// PyTorch's own reducer behind our Comm: a backend that hands its collectives on, so that they are recorded like ours.
#include <algorithm>

#include "engine/data_parallel/sync.h"
#include "rankscope/collectors/annotate.h"

namespace rankscope::trainer {
namespace {

/// A future of tensors on GPUs wants to know which.
std::vector<c10::Device> gpus_of(const std::vector<at::Tensor>& tensors) {
  if (!tensors.front().is_cuda()) return {};
  return {tensors.front().device()};
}

class CommWork final : public c10d::Work {
 public:
  explicit CommWork(std::vector<at::Tensor> tensors)
      : future_(
            c10::make_intrusive<at::ivalue::Future>(c10::ListType::create(c10::TensorType::get()), gpus_of(tensors))),
        tensors_(std::move(tensors)) {}

  bool wait(std::chrono::milliseconds) override {
    future_->waitAndThrow();
    return true;
  }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }
  std::vector<at::Tensor> result() override { return tensors_; }

  void finish_with(const std::string& error) {
    if (error.empty()) {
      future_->markCompleted(c10::IValue(tensors_));
    } else {
      future_->setError(std::make_exception_ptr(std::runtime_error(error)));
    }
  }

 private:
  c10::intrusive_ptr<at::ivalue::Future> future_;
  std::vector<at::Tensor> tensors_;
};

class CommBackend final : public c10d::Backend {
 public:
  explicit CommBackend(Comm& comm) : Backend(comm.group().position, comm.group().size()), comm_(comm) {}

  const std::string getBackendName() const override { return "rankscope"; }

  c10::intrusive_ptr<c10d::Work> allreduce(std::vector<at::Tensor>& tensors, const c10d::AllreduceOptions&) override {
    // Which reduction is the step's last is not known here: as many as in the step before are expected.
    ++reductions_;
    const bool last = reductions_ == reductions_before_;
    return pass_on({.op = CommOp::allreduce,
                    .label = "bucket " + std::to_string(reductions_ - 1),
                    .tensor = tensors.front(),
                    .delay = last ? delay_ : std::chrono::nanoseconds{0}},
                   tensors);
  }

  c10::intrusive_ptr<c10d::Work> broadcast(std::vector<at::Tensor>& tensors,
                                           const c10d::BroadcastOptions& options) override {
    return pass_on({.op = CommOp::broadcast,
                    .label = "bucket order",
                    .tensor = tensors.front(),
                    .root = static_cast<int>(options.rootRank)},
                   tensors);
  }

  void begin_step(std::chrono::nanoseconds delay) {
    reductions_before_ = reductions_;
    reductions_ = 0;
    delay_ = delay;
  }

  // Blocks until all that was handed on is done, in a span of kind wait; errors are left to the reducer.
  void wait_for_all() {
    annotate::Span span{annotate::Kind::wait, "wait all buckets"};
    for (const auto& work : open_) work->getFuture()->wait();
    open_.clear();
  }

 private:
  c10::intrusive_ptr<c10d::Work> pass_on(Operation operation, const std::vector<at::Tensor>& tensors) {
    auto work = c10::make_intrusive<CommWork>(tensors);
    open_.push_back(work);
    comm_.enqueue_then(std::move(operation), [work](const std::string& error) { work->finish_with(error); });
    return work;
  }

  Comm& comm_;
  std::vector<c10::intrusive_ptr<CommWork>> open_;
  std::size_t reductions_ = 0;
  std::size_t reductions_before_ = 0;
  std::chrono::nanoseconds delay_{0};
};

class C10dSync final : public GradientSync {
 public:
  C10dSync(const Model& model, Comm& comm, SyncOptions options)
      : model_(model), comm_(comm), options_(options), backend_(c10::make_intrusive<CommBackend>(comm)) {
    const auto store = c10::make_intrusive<c10d::HashStore>();
    auto group = c10::make_intrusive<c10d::ProcessGroup>(store, comm.group().position, comm.group().size());
    group->setBackend(model.parameters().front().device().type(), c10d::ProcessGroup::BackendType::CUSTOM, backend_);
    std::vector<at::Tensor> parameters = model.parameters();
    const std::vector<bool> sparse(parameters.size(), false);
    auto buckets = std::get<0>(
        c10d::compute_bucket_assignment_by_size(parameters, {options.caps.first_bytes, options.caps.bytes}, sparse));
    std::ranges::reverse(buckets);
    const auto cap = static_cast<std::int64_t>(options.caps.bytes);
    const auto first_cap = static_cast<std::int64_t>(options.caps.first_bytes);
    const auto names = model.named_parameters().keys();
    std::unordered_map<std::size_t, std::string> named;
    for (std::size_t i = 0; i < names.size(); ++i) named.emplace(i, names[i]);
    reducer_ = std::make_unique<c10d::Reducer>(std::move(parameters), std::move(buckets), std::move(group), sparse, cap,
                                               options.find_unused, false, std::move(named), first_cap, false, false,
                                               std::vector<std::int64_t>{});
  }

  Result<void> before_forward(Reduction reduction) override {
    reduction_ = reduction;
    if (reduction == Reduction::later) return {};
    backend_->begin_step(delay_);
    if (options_.broadcast_buffers) RS_TRY_VOID(broadcast_buffers(model_, comm_));
    reducer_->prepare_for_forward();
    reducer_->rebuild_buckets();
    return {};
  }

  Result<void> before_backward(const at::Tensor& loss) override {
    if (reduction_ == Reduction::later) return {};  // no_sync: without this call the hooks do nothing
    std::vector<at::Tensor> outputs;
    if (options_.find_unused) outputs.push_back(loss);
    reducer_->prepare_for_backward(outputs);
    // The reducer waits in a callback at the end of backward. One that is queued earlier runs before it and takes the
    // waiting upon itself, where it can be told from compute.
    loss.register_hook([backend = backend_](const at::Tensor& gradient) {
      torch::autograd::Engine::get_default_engine().queue_callback([backend] { backend->wait_for_all(); });
      return gradient;
    });
    return {};
  }

  Result<void> after_backward() override { return {}; }
  void delay_last(std::chrono::nanoseconds delay) override { delay_ = delay; }

 private:
  const Model& model_;
  Comm& comm_;
  SyncOptions options_;
  c10::intrusive_ptr<CommBackend> backend_;
  std::unique_ptr<c10d::Reducer> reducer_;
  Reduction reduction_ = Reduction::later;
  std::chrono::nanoseconds delay_{0};
};

}  // namespace

Result<std::unique_ptr<GradientSync>> make_c10d_sync(const Model& model, Comm& comm, SyncOptions options) {
  RS_TRY_VOID(broadcast_state(model, comm));
  return std::make_unique<C10dSync>(model, comm, options);
}

}  // namespace rankscope::trainer
