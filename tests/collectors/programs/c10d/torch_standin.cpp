// Built as libtorch_cpu.so. Calls between its own functions go by symbol, as they do in PyTorch's.
#include "torch_standin.h"

#include <deque>
#include <stdexcept>

namespace c10d {

class STANDIN_API ProcessGroupGloo : public Backend {
 public:
  class STANDIN_API AsyncWork : public Work {
   public:
    static void execute(const c10::intrusive_ptr<AsyncWork>& work);
    void finishWorkGloo();
    void finishWorkGlooError(const std::exception_ptr& error);
    bool fails = false;
  };
  class STANDIN_API SendWork : public Work {
   public:
    bool wait(milliseconds timeout) override;
  };
  class STANDIN_API RecvWork : public Work {
   public:
    bool wait(milliseconds timeout) override;
  };

  ~ProcessGroupGloo() override;
  void enqueue(c10::intrusive_ptr<AsyncWork> work);
  WorkPointer broadcast(Tensors&, const BroadcastOptions&) override;
  WorkPointer allreduce(Tensors&, const AllreduceOptions&) override;
  WorkPointer allreduce_sparse(Tensors&, const AllreduceOptions&) override;
  WorkPointer allreduce_coalesced(Tensors&, const AllreduceCoalescedOptions&) override;
  WorkPointer reduce(Tensors&, const ReduceOptions&) override;
  WorkPointer allgather(TensorLists&, Tensors&, const AllgatherOptions&) override;
  WorkPointer _allgather_base(at::Tensor&, at::Tensor&, const AllgatherOptions&) override;
  WorkPointer allgather_coalesced(TensorLists&, Tensors&, const AllgatherOptions&) override;
  WorkPointer allgather_into_tensor_coalesced(Tensors&, Tensors&, const AllgatherOptions&) override;
  WorkPointer gather(TensorLists&, Tensors&, const GatherOptions&) override;
  WorkPointer scatter(Tensors&, TensorLists&, const ScatterOptions&) override;
  WorkPointer reduce_scatter(Tensors&, TensorLists&, const ReduceScatterOptions&) override;
  WorkPointer _reduce_scatter_base(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) override;
  WorkPointer reduce_scatter_tensor_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) override;
  WorkPointer alltoall_base(at::Tensor&, at::Tensor&, std::vector<std::int64_t>&, std::vector<std::int64_t>&,
                            const AllToAllOptions&) override;
  void monitoredBarrier(const BarrierOptions&, bool) override;
  std::uint64_t getSequenceNumberForGroup() override;
  WorkPointer send(Tensors&, int, int) override;
  WorkPointer recv(Tensors&, int, int) override;
  WorkPointer recvAnysource(Tensors&, int) override;
  WorkPointer barrier(const BarrierOptions&) override;

 private:
  WorkPointer enqueue_new();
  template <class Pair>
  WorkPointer transfer();
};

namespace {
std::deque<c10::intrusive_ptr<ProcessGroupGloo::AsyncWork>> enqueued;
std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> buffers;
gloo::transport::tcp::Context* const transport = new gloo::transport::tcp::Context;
}  // namespace

bool Work::wait(milliseconds) { return done; }
bool ProcessGroupGloo::SendWork::wait(milliseconds) { return true; }
bool ProcessGroupGloo::RecvWork::wait(milliseconds) { throw std::runtime_error{"nothing came"}; }

void ProcessGroupGloo::AsyncWork::finishWorkGloo() { done = true; }
void ProcessGroupGloo::AsyncWork::finishWorkGlooError(const std::exception_ptr&) { done = true; }
void ProcessGroupGloo::AsyncWork::execute(const c10::intrusive_ptr<AsyncWork>& work) {
  if (work->fails)
    work->finishWorkGlooError(nullptr);
  else
    work->finishWorkGloo();
}

ProcessGroupGloo::~ProcessGroupGloo() = default;
// As torch declares it.  NOLINTNEXTLINE(performance-unnecessary-value-param)
void ProcessGroupGloo::enqueue(c10::intrusive_ptr<AsyncWork> work) { enqueued.push_back(work); }
WorkPointer ProcessGroupGloo::enqueue_new() {
  const c10::intrusive_ptr<AsyncWork> work{new AsyncWork};
  enqueue(work);
  return WorkPointer{work.get()};
}
template <class Pair>
WorkPointer ProcessGroupGloo::transfer() {
  buffers.push_back(transport->createUnboundBuffer(nullptr, 0));
  return WorkPointer{new Pair};
}

WorkPointer ProcessGroupGloo::broadcast(Tensors& tensors, const BroadcastOptions&) {
  if (tensors.empty()) throw std::invalid_argument{"no tensor was given"};
  return enqueue_new();
}
WorkPointer ProcessGroupGloo::allreduce(Tensors&, const AllreduceOptions&) { return enqueue_new(); }
WorkPointer ProcessGroupGloo::allreduce_sparse(Tensors&, const AllreduceOptions&) { return enqueue_new(); }
WorkPointer ProcessGroupGloo::allreduce_coalesced(Tensors&, const AllreduceCoalescedOptions&) { return enqueue_new(); }
WorkPointer ProcessGroupGloo::reduce(Tensors&, const ReduceOptions&) { return enqueue_new(); }
WorkPointer ProcessGroupGloo::allgather(TensorLists&, Tensors&, const AllgatherOptions&) { return enqueue_new(); }
WorkPointer ProcessGroupGloo::_allgather_base(at::Tensor& all, at::Tensor& own, const AllgatherOptions& options) {
  TensorLists alls{{all}};
  Tensors owns{own};
  return static_cast<Backend*>(this)->allgather(alls, owns, options);
}
WorkPointer ProcessGroupGloo::allgather_coalesced(TensorLists&, Tensors&, const AllgatherOptions&) {
  return enqueue_new();
}
WorkPointer ProcessGroupGloo::allgather_into_tensor_coalesced(Tensors&, Tensors&, const AllgatherOptions&) {
  return enqueue_new();
}
WorkPointer ProcessGroupGloo::gather(TensorLists&, Tensors&, const GatherOptions&) { return enqueue_new(); }
WorkPointer ProcessGroupGloo::scatter(Tensors&, TensorLists&, const ScatterOptions&) { return enqueue_new(); }
WorkPointer ProcessGroupGloo::reduce_scatter(Tensors&, TensorLists&, const ReduceScatterOptions&) {
  return enqueue_new();
}
WorkPointer ProcessGroupGloo::_reduce_scatter_base(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) {
  return enqueue_new();
}
// Two sums, and a work that waits for both.
WorkPointer ProcessGroupGloo::reduce_scatter_tensor_coalesced(Tensors&, Tensors& all, const ReduceScatterOptions&) {
  static_cast<Backend*>(this)->allreduce(all, {});
  static_cast<Backend*>(this)->allreduce(all, {});
  return WorkPointer{new Work};
}
WorkPointer ProcessGroupGloo::alltoall_base(at::Tensor&, at::Tensor&, std::vector<std::int64_t>&,
                                            std::vector<std::int64_t>&, const AllToAllOptions&) {
  return enqueue_new();
}
void ProcessGroupGloo::monitoredBarrier(const BarrierOptions&, bool) {
  Tensors none;
  static_cast<Backend*>(this)->send(none, 1, 0)->wait(milliseconds{1});
}
std::uint64_t ProcessGroupGloo::getSequenceNumberForGroup() { return 42; }
WorkPointer ProcessGroupGloo::send(Tensors&, int, int) { return transfer<SendWork>(); }
WorkPointer ProcessGroupGloo::recv(Tensors&, int, int) { return transfer<RecvWork>(); }
WorkPointer ProcessGroupGloo::recvAnysource(Tensors&, int) { return transfer<RecvWork>(); }
WorkPointer ProcessGroupGloo::barrier(const BarrierOptions&) { return enqueue_new(); }

void Reducer::finalize_bucket_dense(Bucket&) {}
void Reducer::finalize_backward() {
  Bucket bucket;
  finalize_bucket_dense(bucket);
  finalize_bucket_dense(bucket);
}

}  // namespace c10d

namespace gloo::transport::tcp {
namespace {
void* free_place = nullptr;
}
void* UnboundBuffer::operator new(std::size_t bytes) {
  void* const place = std::exchange(free_place, nullptr);
  return place != nullptr ? place : ::operator new(bytes);
}
void UnboundBuffer::operator delete(void* place) { ::operator delete(std::exchange(free_place, place)); }
void UnboundBuffer::handleRecvCompletion(int) { ++completed; }
void UnboundBuffer::handleSendCompletion(int) { ++completed; }
std::unique_ptr<transport::UnboundBuffer> Context::createUnboundBuffer(void*, std::size_t) {
  return std::make_unique<UnboundBuffer>();
}
}  // namespace gloo::transport::tcp

namespace {
c10d::Backend* make_group() { return new c10d::ProcessGroupGloo; }
void run_next(bool fails) {
  const auto work = c10d::enqueued.front();
  c10d::enqueued.pop_front();
  work->fails = fails;
  c10d::ProcessGroupGloo::AsyncWork::execute(work);
}
gloo::transport::tcp::UnboundBuffer& buffer_at(std::size_t place) {
  return static_cast<gloo::transport::tcp::UnboundBuffer&>(*c10d::buffers.at(place));
}
void sent(std::size_t buffer) { buffer_at(buffer).handleSendCompletion(1); }
void received(std::size_t buffer) { buffer_at(buffer).handleRecvCompletion(1); }
void replace(std::size_t buffer) {
  c10d::buffers.at(buffer).reset();
  c10d::buffers.at(buffer) = c10d::transport->createUnboundBuffer(nullptr, 0);
}
void finalize_backward() {
  c10d::Reducer reducer;
  reducer.finalize_backward();
}
}  // namespace

extern "C" {
STANDIN_API std::int32_t aoti_torch_get_numel(const at::Tensor* tensor, std::int64_t* count) {
  *count = tensor->facts->count;
  return 0;
}
STANDIN_API std::int32_t aoti_torch_get_dtype(const at::Tensor* tensor, std::int32_t* type) {
  *type = tensor->facts->type;
  return 0;
}
STANDIN_API c10d::Backend* standin_make() { return make_group(); }
STANDIN_API int standin_sequence(c10d::Backend* group) { return static_cast<int>(group->getSequenceNumberForGroup()); }
STANDIN_API void standin_allreduce(c10d::Backend* group) {
  static const at::Facts floats{100, 6};
  c10d::Tensors one{{&floats}};
  group->allreduce(one, {});
  run_next(false);
}
STANDIN_API extern const StandinEntry standin_entry;
const StandinEntry standin_entry{make_group, run_next, sent, received, replace, finalize_backward};
}
