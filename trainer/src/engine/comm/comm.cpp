#include "engine/comm/comm.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/rank_list.h"

namespace rankscope::trainer {
namespace {

struct OpInfo {
  const char* name;
  bool has_peer;  ///< a root, or the partner of send and recv
};

OpInfo info_of(CommOp op) {
  switch (op) {
    case CommOp::allreduce:
      return {"allreduce", false};
    case CommOp::reduce_scatter:
      return {"reduce_scatter", false};
    case CommOp::broadcast:
      return {"broadcast", true};
    case CommOp::allgather:
      return {"allgather", false};
    case CommOp::barrier:
      return {"barrier", false};
    case CommOp::send:
      return {"send", true};
    case CommOp::recv:
      return {"recv", true};
  }
  return {"", false};
}

// What one rank has of the payload (metrics.md 6, "count x t").
std::uint64_t payload_of(const Operation& operation) {
  if (operation.op == CommOp::reduce_scatter) return operation.outputs.front().nbytes();
  return operation.tensor.defined() ? operation.tensor.nbytes() : 0;
}

std::string listed(const std::vector<int>& numbers) {
  std::vector<RankId> ranks;
  for (const int number : numbers) ranks.push_back(RankId{static_cast<std::uint32_t>(number)});
  return recording::rank_list(ranks);
}

std::atomic<std::uint64_t> next_uid{1};
std::atomic<std::int64_t> waited_ns{0};

}  // namespace

std::uint64_t next_collective_uid() { return next_uid.fetch_add(1, std::memory_order_relaxed); }

std::chrono::nanoseconds time_waited() { return std::chrono::nanoseconds{waited_ns.load(std::memory_order_relaxed)}; }

const char* dtype_name(at::ScalarType type) {
  if (type == at::kFloat) return "f32";
  if (type == at::kDouble) return "f64";
  if (type == at::kBFloat16) return "bf16";
  if (type == at::kLong) return "i64";
  if (type == at::kInt) return "i32";
  if (type == at::kByte) return "u8";
  return "other";
}

struct Handle::State {
  std::string name;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::string error;

  void finish(std::string failure) {
    const std::lock_guard lock{mutex};
    done = true;
    error = std::move(failure);
    changed.notify_all();
  }
};

Result<void> Handle::wait() {
  RS_CHECK(valid());
  annotate::Span span{annotate::Kind::wait, state_->name};
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock{state_->mutex};
  state_->changed.wait(lock, [&] { return state_->done; });
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begun;
  waited_ns.fetch_add(taken.count(), std::memory_order_relaxed);
  if (!state_->error.empty()) return fail(ErrorKind::not_computable, state_->error);
  return {};
}

void Handle::wait_or_throw() {
  if (const auto done = wait(); !done) throw std::runtime_error(done.error().message);
}

namespace {

/// The first failure of a group. After it its members no longer agree on what comes next: all that is later fails, too.
class Failure {
 public:
  [[nodiscard]] bool is_set() const { return set_.load(); }
  [[nodiscard]] std::string text() const {
    const std::lock_guard lock{mutex_};
    return text_;
  }
  void set(std::string text) {
    const std::lock_guard lock{mutex_};
    if (text_.empty()) text_ = std::move(text);
    set_.store(true);
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
  std::atomic<bool> set_{false};
};

/// What runs one behind the other: all collectives of a group, its sends to one partner, or its receives from one.
class Lane {
 public:
  using Done = std::function<void(const std::string&)>;
  struct Pending {
    Operation operation;
    Done done;
    std::uint64_t uid;
    std::shared_ptr<c10::ThreadLocalDebugInfo> caller = c10::ThreadLocalDebugInfo::current();
  };

  Lane(const Group& group, Transport& transport, Failure& failure, std::string name)
      : group_(group), transport_(transport), failure_(failure), name_(std::move(name)) {
    thread_ = std::jthread{[this](const std::stop_token& stop) { work(stop); }};
  }

  void push(Pending pending) {
    {
      const std::lock_guard lock{mutex_};
      pending_.push_back(std::move(pending));
    }
    changed_.notify_one();
  }

 private:
  void work(const std::stop_token& stop) {
    annotate::name_thread(name_.c_str());
    while (true) {
      std::unique_lock lock{mutex_};
      if (!changed_.wait(lock, stop, [&] { return !pending_.empty(); })) return;
      Pending next = std::move(pending_.front());
      pending_.pop_front();
      lock.unlock();
      if (!failure_.is_set()) run(next);
      release(next);
      next.done(failure_.text());
    }
  }

  // Whoever hears that it is done is alone with its tensors. What nobody else holds is gone here; whoever counts the
  // memory of the caller's thread must hear of it.
  static void release(Pending& next) {
    const auto own = c10::ThreadLocalDebugInfo::current();
    c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(std::move(next.caller));
    next.operation = {};
    c10::ThreadLocalDebugInfo::_forceCurrentDebugInfo(own);
  }

  void run(Pending& next) {
    if (next.operation.delay.count() > 0) std::this_thread::sleep_for(next.operation.delay);
    annotate::collective_started(next.uid);
    try {
      transport_.run(next.operation);
      annotate::collective_finished(next.uid);
    } catch (const std::exception& error) {
      failure_.set(format("{} ({}) of group {} failed: {}", info_of(next.operation.op).name, next.operation.label,
                          group_.name, error.what()));
    }
  }

  const Group& group_;
  Transport& transport_;
  Failure& failure_;
  std::string name_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Pending> pending_;
  std::jthread thread_;
};

}  // namespace

class Comm::Queue {
 public:
  Queue(Group group, std::unique_ptr<Transport> transport)
      : group_(std::move(group)), members_(listed(group_.members)), transport_(std::move(transport)) {}

  [[nodiscard]] const Group& group() const { return group_; }
  [[nodiscard]] bool has_failed() const { return failure_.is_set(); }

  void delay_next(std::chrono::nanoseconds delay) {
    const std::lock_guard lock{mutex_};
    delay_of_next_ = delay;
  }

  void push(Operation operation, Lane::Done done) {
    const std::uint64_t uid = next_collective_uid();
    const std::lock_guard lock{mutex_};
    operation.delay += std::exchange(delay_of_next_, std::chrono::nanoseconds{0});
    transport_->enqueued(operation);
    announce(operation, uid);
    Lane& lane = lane_for(operation);
    lane.push({std::move(operation), std::move(done), uid});
  }

 private:
  void announce(const Operation& operation, std::uint64_t uid) {
    const OpInfo info = info_of(operation.op);
    const bool has_data = operation.tensor.defined();
    const rankscope_collective_v1 collective{
        .uid = uid,
        .sequence = sequence_++,
        .bytes = payload_of(operation),
        .group = group_.name.c_str(),
        .op = info.name,
        .dtype = has_data ? dtype_name(operation.tensor.scalar_type()) : "",
        .members = members_.c_str(),
        .peer = info.has_peer ? group_.members[static_cast<std::size_t>(operation.root)] : -1,
    };
    annotate::collective_enqueued(collective);
  }

  Lane& lane_for(const Operation& operation) {
    std::string name = format("comm {}", group_.name);
    const int partner = group_.members[static_cast<std::size_t>(operation.root)];
    if (operation.op == CommOp::send) name += format(" to {}", partner);
    if (operation.op == CommOp::recv) name += format(" from {}", partner);
    auto& lane = lanes_[name];
    if (lane == nullptr) lane = std::make_unique<Lane>(group_, *transport_, failure_, name);
    return *lane;
  }

  Group group_;
  std::string members_;
  std::unique_ptr<Transport> transport_;
  Failure failure_;
  std::mutex mutex_;
  std::uint64_t sequence_ = 0;
  std::chrono::nanoseconds delay_of_next_{0};
  std::map<std::string, std::unique_ptr<Lane>> lanes_;  // by the name of their threads
};

Comm::Comm(Group group, std::unique_ptr<Transport> transport)
    : queue_(std::make_unique<Queue>(std::move(group), std::move(transport))) {}
Comm::~Comm() = default;

const Group& Comm::group() const { return queue_->group(); }
bool Comm::has_failed() const { return queue_->has_failed(); }

void Comm::delay_next(std::chrono::nanoseconds delay) { queue_->delay_next(delay); }

void Comm::enqueue_then(Operation operation, std::function<void(const std::string&)> done) {
  queue_->push(std::move(operation), std::move(done));
}

Handle Comm::enqueue(Operation operation) {
  Handle handle;
  handle.state_ = std::make_shared<Handle::State>();
  handle.state_->name = format("wait {} {}", info_of(operation.op).name, operation.label);
  enqueue_then(std::move(operation), [state = handle.state_](const std::string& error) { state->finish(error); });
  return handle;
}

Handle Comm::allreduce(at::Tensor sum, std::string label) {
  return enqueue({.op = CommOp::allreduce, .label = std::move(label), .tensor = std::move(sum)});
}
Handle Comm::allreduce_max(at::Tensor largest, std::string label) {
  return enqueue(
      {.op = CommOp::allreduce, .label = std::move(label), .tensor = std::move(largest), .reduce = Reduce::max});
}
Handle Comm::reduce_scatter(at::Tensor own, at::Tensor input, std::string label) {
  RS_CHECK(input.is_contiguous() && own.is_contiguous() && input.numel() == own.numel() * group().size());
  return enqueue({.op = CommOp::reduce_scatter,
                  .label = std::move(label),
                  .tensor = std::move(input),
                  .outputs = {std::move(own)}});
}
Handle Comm::broadcast(at::Tensor tensor, int root, std::string label) {
  return enqueue({.op = CommOp::broadcast, .label = std::move(label), .tensor = std::move(tensor), .root = root});
}
Handle Comm::allgather(std::vector<at::Tensor> outputs, at::Tensor input, std::string label) {
  return enqueue(
      {.op = CommOp::allgather, .label = std::move(label), .tensor = std::move(input), .outputs = std::move(outputs)});
}
Handle Comm::allgather_flat(const at::Tensor& all, const at::Tensor& own, std::string label) {
  RS_CHECK(all.is_contiguous() && all.numel() == own.numel() * group().size());
  return allgather(all.flatten().chunk(group().size()), own.flatten(), std::move(label));
}
Handle Comm::barrier(std::string label) { return enqueue({.op = CommOp::barrier, .label = std::move(label)}); }
Handle Comm::send(at::Tensor tensor, int to, std::string label) {
  return enqueue({.op = CommOp::send, .label = std::move(label), .tensor = std::move(tensor), .root = to});
}
Handle Comm::recv(at::Tensor tensor, int from, std::string label) {
  return enqueue({.op = CommOp::recv, .label = std::move(label), .tensor = std::move(tensor), .root = from});
}

}  // namespace rankscope::trainer
