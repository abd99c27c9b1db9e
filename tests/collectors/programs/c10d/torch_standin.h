// As much of c10d, Gloo and at::Tensor as makes the functions of libtorch_cpu.so that the recorder stands in front of,
// with the same mangled names. They do nothing but what the tests look at.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#define STANDIN_API __attribute__((visibility("default")))
#ifdef STANDIN_HIDES_REDUCER  // a build that calls its own functions directly
#define STANDIN_REDUCER __attribute__((visibility("hidden")))
#else
#define STANDIN_REDUCER STANDIN_API
#endif

namespace at {
/// One pointer; what it points to has a number of elements and a type, as c10::ScalarType numbers them.
struct Facts {
  std::int64_t count;
  std::int32_t type;
};
struct STANDIN_API Tensor {
  const Facts* facts = nullptr;
};
}  // namespace at

namespace c10 {
namespace detail {
template <class T>
struct intrusive_target_default_null_type {};
}  // namespace detail
template <class T, class Null = detail::intrusive_target_default_null_type<T>>
class intrusive_ptr {
 public:
  intrusive_ptr() = default;
  explicit intrusive_ptr(T* object) : object_(object) {}
  intrusive_ptr(const intrusive_ptr& from) : object_(from.object_) {}
  intrusive_ptr& operator=(const intrusive_ptr&) = default;
  // Leaks, but is passed as one that counts.  NOLINTNEXTLINE(modernize-use-equals-default)
  ~intrusive_ptr() {}
  T* get() const { return object_; }
  T* operator->() const { return object_; }

 private:
  T* object_ = nullptr;
};
}  // namespace c10

namespace gloo::transport {
struct UnboundBuffer {
  virtual ~UnboundBuffer() = default;
};
namespace tcp {
struct STANDIN_API UnboundBuffer : transport::UnboundBuffer {
  // The next one gets the place of one that has ended, as it often does.
  static void* operator new(std::size_t bytes);
  static void operator delete(void* place);
  void handleRecvCompletion(int rank);
  void handleSendCompletion(int rank);
  int completed = 0;
};
struct STANDIN_API Context {
  virtual ~Context() = default;
  virtual std::unique_ptr<transport::UnboundBuffer> createUnboundBuffer(void* memory, std::size_t bytes);
};
}  // namespace tcp
}  // namespace gloo::transport

namespace c10d {

using std::chrono::milliseconds;
using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<Tensors>;

class STANDIN_API Work {
 public:
  virtual ~Work() = default;
  virtual bool wait(milliseconds timeout);
  bool done = false;
};
using WorkPointer = c10::intrusive_ptr<Work>;

struct BroadcastOptions {
  std::int64_t rootRank = 0;
};
struct ReduceOp {
  std::int64_t words[4] = {};
};
struct ReduceOptions {
  ReduceOp reduceOp;
  std::int64_t rootRank = 0;
};
struct GatherOptions : BroadcastOptions {};
struct ScatterOptions : BroadcastOptions {};
struct AllreduceOptions {};
struct AllreduceCoalescedOptions : AllreduceOptions {};
struct AllgatherOptions {};
struct ReduceScatterOptions {};
struct AllToAllOptions {};
struct BarrierOptions {};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual WorkPointer broadcast(Tensors&, const BroadcastOptions&) = 0;
  virtual WorkPointer allreduce(Tensors&, const AllreduceOptions&) = 0;
  virtual WorkPointer allreduce_sparse(Tensors&, const AllreduceOptions&) = 0;
  virtual WorkPointer allreduce_coalesced(Tensors&, const AllreduceCoalescedOptions&) = 0;
  virtual WorkPointer reduce(Tensors&, const ReduceOptions&) = 0;
  virtual WorkPointer allgather(TensorLists&, Tensors&, const AllgatherOptions&) = 0;
  virtual WorkPointer _allgather_base(at::Tensor&, at::Tensor&, const AllgatherOptions&) = 0;
  virtual WorkPointer allgather_coalesced(TensorLists&, Tensors&, const AllgatherOptions&) = 0;
  virtual WorkPointer allgather_into_tensor_coalesced(Tensors&, Tensors&, const AllgatherOptions&) = 0;
  virtual WorkPointer gather(TensorLists&, Tensors&, const GatherOptions&) = 0;
  virtual WorkPointer scatter(Tensors&, TensorLists&, const ScatterOptions&) = 0;
  virtual WorkPointer reduce_scatter(Tensors&, TensorLists&, const ReduceScatterOptions&) = 0;
  virtual WorkPointer _reduce_scatter_base(at::Tensor&, at::Tensor&, const ReduceScatterOptions&) = 0;
  virtual WorkPointer reduce_scatter_tensor_coalesced(Tensors&, Tensors&, const ReduceScatterOptions&) = 0;
  virtual WorkPointer alltoall_base(at::Tensor&, at::Tensor&, std::vector<std::int64_t>&, std::vector<std::int64_t>&,
                                    const AllToAllOptions&) = 0;
  virtual void monitoredBarrier(const BarrierOptions&, bool) = 0;
  virtual std::uint64_t getSequenceNumberForGroup() = 0;
  virtual WorkPointer send(Tensors&, int, int) = 0;
  virtual WorkPointer recv(Tensors&, int, int) = 0;
  virtual WorkPointer recvAnysource(Tensors&, int) = 0;
  virtual WorkPointer barrier(const BarrierOptions&) = 0;
};

class Reducer {
 public:
  struct Bucket {};
  STANDIN_REDUCER void finalize_backward();
  STANDIN_REDUCER void finalize_bucket_dense(Bucket& bucket);
};

}  // namespace c10d

/// What the library exports to the tests.
struct StandinEntry {
  c10d::Backend* (*make_group)();
  void (*run_next)(bool fails);      ///< carries out what was enqueued first, on this thread
  void (*sent)(std::size_t buffer);  ///< the transport has moved the n-th buffer
  void (*received)(std::size_t buffer);
  void (*replace)(std::size_t buffer);  ///< the n-th buffer ends without being moved; a collective's gets its place
  void (*finalize_backward)();
};
