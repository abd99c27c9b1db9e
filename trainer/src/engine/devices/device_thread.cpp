#include "engine/devices/device_thread.h"

#include <pthread.h>

#include <utility>

#include "engine/comm/accelerator.h"
#include "engine/comm/comm.h"
#include "engine/step/step_parts.h"
#include "rankscope/collectors/annotate.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {

DeviceThread::DeviceThread(int index, at::Device device)
    : name_(format("device {}", index)),
      thread_([this, device, threads = at::get_num_threads()](const std::stop_token& stop) {
        at::set_num_threads(threads);  // libtorch counts them for each thread anew
        if (device.is_cuda()) accelerator()->use(device.index());
        loop(stop);
      }) {}

void DeviceThread::start(std::function<void()> work) {
  // What belongs to the calling thread (counted memory, no_grad) holds for what it has done elsewhere, too.
  auto with_state = [state = at::ThreadLocalState{}, work = std::move(work)] {
    const at::ThreadLocalStateGuard guard{state};
    work();
  };
  {
    const std::lock_guard lock{mutex_};
    RS_CHECK(!work_);
    work_ = std::move(with_state);
  }
  changed_.notify_all();
}

void DeviceThread::wait() {
  annotate::Span span{annotate::Kind::sync, "wait " + name_};
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return !work_; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

std::chrono::nanoseconds DeviceThread::cpu_time() {
  clockid_t clock{};
  RS_CHECK(pthread_getcpuclockid(thread_.native_handle(), &clock) == 0);
  return cpu_time_of(clock);
}

std::vector<std::chrono::nanoseconds> cpu_times_of(std::deque<DeviceThread>& devices) {
  std::vector<std::chrono::nanoseconds> times;
  for (DeviceThread& device : devices) times.push_back(device.cpu_time());
  return times;
}

void DeviceThread::loop(const std::stop_token& stop) {
  annotate::name_thread(name_.c_str());
  while (true) {
    std::unique_lock lock{mutex_};
    if (!changed_.wait(lock, stop, [&] { return static_cast<bool>(work_); })) return;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work_();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    work_ = nullptr;
    lock.unlock();
    changed_.notify_all();
  }
}

at::Tensor DeviceCopies::copied(const char* what, const at::Tensor& tensor, at::Device to) {
  at::Tensor copy;
  moved(what, tensor.nbytes(), tensor.scalar_type(), [&] {
    const at::Tensor values = tensor.detach();
    copy = to == values.device() ? values.clone() : values.to(to);
  });
  return copy;
}

void DeviceCopies::moved(const char* what, std::size_t bytes, at::ScalarType type, const std::function<void()>& work) {
  const std::uint64_t uid = next_collective_uid();
  annotate::collective_enqueued({.uid = uid,
                                 .sequence = sequence_.fetch_add(1, std::memory_order_relaxed),
                                 .bytes = bytes,
                                 .group = "devices",
                                 .op = what,
                                 .dtype = dtype_name(type),
                                 .members = members_.c_str(),
                                 .peer = -1});
  annotate::collective_started(uid);
  work();
  if (accelerator() != nullptr) accelerator()->finish();
  annotate::collective_finished(uid);
}

}  // namespace rankscope::trainer
