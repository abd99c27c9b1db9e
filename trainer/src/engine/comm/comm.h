// Communication between the ranks of one group. All parallel code uses only this interface, and each operation tells
// the recorder when it was enqueued, really started and finished.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/libtorch.h"
#include "rankscope/core/result.h"

namespace rankscope::trainer {

enum class CommOp : std::uint8_t { allreduce, reduce_scatter, broadcast, allgather, barrier, send, recv };
enum class Reduce : std::uint8_t { sum, max };

/// One operation of a group. Its tensors stay alive until it has finished.
struct Operation {
  CommOp op = CommOp::barrier;
  std::string label{};                ///< what it is for: "bucket 0", "loss"
  at::Tensor tensor{};                ///< reduced, broadcast or received in place; what is sent; input of the others
  std::vector<at::Tensor> outputs{};  ///< of allgather, one per rank; of reduce_scatter, this rank's part
  Reduce reduce = Reduce::sum;        ///< of allreduce
  int root = 0;                       ///< of broadcast; the partner of send and recv: position in the group
  std::chrono::nanoseconds delay{0};  ///< injected between enqueued and started
  std::shared_ptr<void> ready{};      ///< of the transport: what its tensors wait for
};

/// Ordered global ranks of a group, under a name that is equal on all of them.
struct Group {
  std::string name;
  std::vector<int> members;
  int position = 0;  ///< of this rank in members

  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }
};

/// Moves the bytes of one operation and returns when it is done; throws on failure. Collectives are called by one
/// thread, in order; so are the sends to one partner, and the receives from one.
class Transport {
 public:
  virtual ~Transport() = default;
  /// Called by the thread that enqueues, at once: tensors may be what that thread has begun on a device.
  virtual void enqueued(Operation&) {}
  virtual void run(Operation& operation) = 0;
};

/// What a caller holds of an enqueued operation.
class Handle {
 public:
  /// Blocks until the operation has finished, within a span of kind wait.
  [[nodiscard]] Result<void> wait();
  /// The same within functions of autograd, which can only throw (modes/catching.h).
  void wait_or_throw();
  [[nodiscard]] bool valid() const { return state_ != nullptr; }

 private:
  friend class Comm;
  struct State;
  std::shared_ptr<State> state_;
};

class Comm {
 public:
  Comm(Group group, std::unique_ptr<Transport> transport);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  [[nodiscard]] const Group& group() const;
  /// True once an operation has failed; all later ones fail, too.
  [[nodiscard]] bool has_failed() const;

  /// Hands the operation to the group's own thread, which runs all of them in this order. Sends to one partner, and
  /// receives from one, have threads of their own: what waits for a partner holds up nothing else. The k-th send to a
  /// partner belongs to the k-th receive there.
  Handle enqueue(Operation operation);

  /// The same, calling `done` (with the error message, empty if none) on the group's thread.
  void enqueue_then(Operation operation, std::function<void(const std::string&)> done);

  /// The next operation starts so much later: an injected delay.
  void delay_next(std::chrono::nanoseconds delay);

  Handle allreduce(at::Tensor sum, std::string label);  ///< SUM: Gloo's average cannot be relied on
  Handle allreduce_max(at::Tensor largest, std::string label);
  /// Sums `input`, which has a part for each rank behind one another, and puts the part of this rank into `own`. Both
  /// are contiguous, `input` as many times as long as there are ranks. The ranks' terms are added in their order. `own`
  /// may be that part of `input`.
  Handle reduce_scatter(at::Tensor own, at::Tensor input, std::string label);
  Handle broadcast(at::Tensor tensor, int root, std::string label);
  Handle allgather(std::vector<at::Tensor> outputs, at::Tensor input, std::string label);
  /// The same into one contiguous tensor, in which the ranks' parts are behind one another; `own` may be that of this
  /// rank.
  Handle allgather_flat(const at::Tensor& all, const at::Tensor& own, std::string label);
  Handle barrier(std::string label);
  Handle send(at::Tensor tensor, int to, std::string label);    ///< done when the partner has posted its receive
  Handle recv(at::Tensor tensor, int from, std::string label);  ///< shape and type must be those that are sent

 private:
  class Queue;
  std::unique_ptr<Queue> queue_;
};

/// What this process has spent in Handle::wait so far. Only one of its threads at a time waits where this is asked for;
/// on a GPU it is now the training thread, now that of backward.
[[nodiscard]] std::chrono::nanoseconds time_waited();

/// A number that no other operation of this process has in the recording.
[[nodiscard]] std::uint64_t next_collective_uid();

/// Annotation name of a tensor's element type: "f32".
[[nodiscard]] const char* dtype_name(at::ScalarType type);

}  // namespace rankscope::trainer
