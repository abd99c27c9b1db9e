// An operation of a group over c10d's ProcessGroupNCCL. Its thread has a stream of its own, which waits for what the
// caller had begun when it enqueued the operation; NCCL waits for that stream. The thread returns when the GPU is done,
// so whoever waits for the operation may use its tensors on any stream, and they live as long as NCCL needs them.
//
// Sends and receives of one communicator would wait for one another, and two partners may begin with a send each: every
// sender and receiver have a communicator to themselves.
#include "cuda/nccl_transport.h"

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "rankscope/trainer/layout/ring.h"

namespace rankscope::trainer {
namespace {

using c10::cuda::CUDAStream;
using c10d::ProcessGroupNCCL;
using GroupPtr = c10::intrusive_ptr<ProcessGroupNCCL>;

constexpr std::chrono::microseconds poll_interval{100};  // each asks CUDA
constexpr std::chrono::seconds patience_of_destruction{5};
constexpr int tag = 0;

// After one operation has failed nobody waits for the others: the process is going to end.
std::atomic<bool> one_has_failed{false};

// Of the calling thread. NCCL's own streams are of the pool with normal priority: none of them is also one of these.
CUDAStream stream_on(c10::DeviceIndex device) {
  thread_local std::map<c10::DeviceIndex, CUDAStream> streams;
  return streams.try_emplace(device, c10::cuda::getStreamFromPool(/*isHighPriority=*/true, device)).first->second;
}

/// Tensors of the host are copied there and back.
at::Tensor on_gpu(const at::Tensor& tensor, at::Device device) { return tensor.is_cuda() ? tensor : tensor.to(device); }
void copy_back(const at::Tensor& from, const at::Tensor& to) {
  if (!to.is_cuda()) to.copy_(from);
}

class NcclTransport final : public Transport {
 public:
  explicit NcclTransport(const GroupSeat& seat) : seat_(seat), all_(make_group(seat.store, seat.position, seat.size)) {
    if (seat.is_pipeline) connect_neighbours();
  }
  NcclTransport(const NcclTransport&) = delete;
  NcclTransport& operator=(const NcclTransport&) = delete;

  // Communicators with an operation that never ends cannot be taken down; the process ends with them.
  ~NcclTransport() override {
    end(std::move(all_));
    for (auto& [direction, pair] : pairs_) end(std::move(pair));
  }

  void enqueued(Operation& operation) override {
    if (operation.tensor.defined() && !operation.tensor.is_cuda()) return;
    auto event = std::make_shared<at::cuda::CUDAEvent>();
    event->record(c10::cuda::getCurrentCUDAStream(device_of(operation).index()));
    operation.ready = std::move(event);
  }

  void run(Operation& operation) override {
    try {
      const at::Device device = device_of(operation);
      const CUDAStream stream = stream_on(device.index());
      const c10::cuda::CUDAStreamGuard guard{stream};
      if (operation.ready) static_cast<at::cuda::CUDAEvent*>(operation.ready.get())->block(stream);
      carry_out(operation, device);
      stream.synchronize();
    } catch (...) {
      one_has_failed.store(true);
      throw;
    }
  }

 private:
  // A mode with several devices has buckets on each.
  [[nodiscard]] at::Device device_of(const Operation& operation) const {
    if (operation.tensor.defined() && operation.tensor.is_cuda()) return operation.tensor.device();
    return {at::kCUDA, static_cast<c10::DeviceIndex>(seat_.device)};
  }

  [[nodiscard]] GroupPtr make_group(const c10::intrusive_ptr<c10d::Store>& store, int position, int size) const {
    auto options = ProcessGroupNCCL::Options::create();
    options->timeout = seat_.timeout;
    return c10::make_intrusive<ProcessGroupNCCL>(store, position, size, std::move(options));
  }

  /// Used by one thread only: that of the sends to, or of the receives from, one partner.
  [[nodiscard]] GroupPtr pair_of(Direction direction) {
    const std::lock_guard lock{mutex_};
    GroupPtr& pair = pairs_[direction];
    if (!pair) {
      const std::string name = std::to_string(direction.from) + " to " + std::to_string(direction.to);
      pair = make_group(c10::make_intrusive<c10d::PrefixStore>(name, seat_.store),
                        seat_.position == direction.from ? 0 : 1, 2);
    }
    return pair;
  }

  /// A communicator that is made while another one waits for its partner on the same device may never be ready: those
  /// of a pipeline, whose stages wait for each other by turns, are made before the first step. All members of a ring
  /// make theirs in one order, so that none waits for a partner that waits for it.
  void connect_neighbours() {
    const at::Device device{at::kCUDA, static_cast<c10::DeviceIndex>(seat_.device)};
    for (const Direction& direction : directions_in_ring(seat_.position, seat_.size))
      pair_of(direction)->eagerConnectSingleDevice(device);
  }

  void carry_out(Operation& operation, at::Device device) {
    if (operation.op == CommOp::barrier) {
      std::vector<at::Tensor> one{at::zeros({1}, device)};
      return wait_for(*all_->allreduce(one, {}));
    }
    std::vector<at::Tensor> tensors{on_gpu(operation.tensor, device)};
    switch (operation.op) {
      case CommOp::allreduce: {
        c10d::AllreduceOptions options;
        options.reduceOp = operation.reduce == Reduce::max ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
        wait_for(*all_->allreduce(tensors, options));
        return copy_back(tensors.front(), operation.tensor);
      }
      case CommOp::reduce_scatter: {
        at::Tensor own = on_gpu(operation.outputs.front(), device).flatten();
        at::Tensor input = tensors.front().flatten();
        wait_for(*all_->_reduce_scatter_base(own, input, {}));
        return copy_back(own.view_as(operation.outputs.front()), operation.outputs.front());
      }
      case CommOp::broadcast: {
        c10d::BroadcastOptions options;
        options.rootRank = operation.root;
        wait_for(*all_->broadcast(tensors, options));
        return copy_back(tensors.front(), operation.tensor);
      }
      case CommOp::allgather:
        return gather(operation, tensors, device);
      case CommOp::send:
        return wait_for(*pair_of({seat_.position, operation.root})->send(tensors, 1, tag));
      case CommOp::recv:
        wait_for(*pair_of({operation.root, seat_.position})->recv(tensors, 0, tag));
        return copy_back(tensors.front(), operation.tensor);
      case CommOp::barrier:
        return;  // above
    }
  }

  void gather(Operation& operation, std::vector<at::Tensor>& tensors, at::Device device) {
    std::vector<std::vector<at::Tensor>> outputs(1);
    for (const at::Tensor& output : operation.outputs) outputs.front().push_back(on_gpu(output, device));
    wait_for(*all_->allgather(outputs, tensors, {}));
    for (std::size_t i = 0; i < operation.outputs.size(); ++i) copy_back(outputs.front()[i], operation.outputs[i]);
  }

  // What c10d calls waiting only makes the stream wait: the host could not tell a lost peer from a slow one.
  void wait_for(c10d::Work& work) const {
    work.wait();
    const auto latest = std::chrono::steady_clock::now() + seat_.timeout;
    while (!work.isCompleted()) {
      if (one_has_failed.load()) throw std::runtime_error("another operation of this rank has failed");
      if (std::chrono::steady_clock::now() > latest) {
        throw std::runtime_error("Timed out waiting " + std::to_string(seat_.timeout.count()) + "ms for the GPU");
      }
      std::this_thread::sleep_for(poll_interval);
    }
    if (const std::exception_ptr failure = work.exception()) std::rethrow_exception(failure);
  }

  /// Takes a communicator down on a thread of its own, which may outlive the caller, and all of this with it.
  struct Ending {
    GroupPtr group;
    std::promise<void> done{};
    std::thread thread{};
  };

  /// NCCL destroys a communicator only when the other ranks of its host do so, too (v2.28.9 src/proxy.cc,
  /// ncclProxyService: it serves until no peer is connected). Where a rank begins with another communicator, both would
  /// wait for ever: whoever has waited for long goes on with the next one.
  static void end(GroupPtr group) {
    if (one_has_failed.load()) return static_cast<void>(group.release());
    auto ending = std::make_unique<Ending>(Ending{.group = std::move(group)});
    std::future<void> done = ending->done.get_future();
    ending->thread = std::thread{[one = ending.get()] {
      try {
        one->group->shutdown();
      } catch (const std::exception&) {  // of a GPU that has failed: the process ends with it
        (void)one->group.release();
      }
      one->done.set_value();
    }};
    if (done.wait_for(patience_of_destruction) != std::future_status::ready) return static_cast<void>(ending.release());
    ending->thread.join();
  }

  GroupSeat seat_;
  GroupPtr all_;
  std::mutex mutex_;
  std::map<Direction, GroupPtr> pairs_;
};

}  // namespace

std::unique_ptr<Transport> connect_nccl(const GroupSeat& seat) { return std::make_unique<NcclTransport>(seat); }

}  // namespace rankscope::trainer
