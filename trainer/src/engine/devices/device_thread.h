// Devices of a process: each has a thread, which is a lane of the recording. On the CPU that is all there is of it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "engine/libtorch.h"

namespace rankscope::trainer {

class DeviceThread {
 public:
  DeviceThread(int index, at::Device device);
  /// Begins `work` on the device, which must be idle.
  void start(std::function<void()> work);
  /// Blocks until it is done, in a span of kind sync; throws what it threw.
  void wait();
  void run(std::function<void()> work) {
    start(std::move(work));
    wait();
  }
  /// That its thread has taken so far.
  [[nodiscard]] std::chrono::nanoseconds cpu_time();

 private:
  void loop(const std::stop_token& stop);

  std::string name_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::function<void()> work_;  // empty: idle
  std::exception_ptr failure_;
  std::jthread thread_;
};

[[nodiscard]] std::vector<std::chrono::nanoseconds> cpu_times_of(std::deque<DeviceThread>& devices);

/// Copies from device to device. The recording has them as operations of the group "devices", whose only rank this is.
class DeviceCopies {
 public:
  explicit DeviceCopies(int rank) : members_(std::to_string(rank)) {}
  /// A copy of the tensor on that device; `what` is "copy", "scatter", "gather", ...
  at::Tensor copied(const char* what, const at::Tensor& tensor, at::Device to);
  /// `bytes` moved by `work`, for which the calling thread's GPU is waited.
  void moved(const char* what, std::size_t bytes, at::ScalarType type, const std::function<void()>& work);

 private:
  std::string members_;
  std::atomic<std::uint64_t> sequence_{0};
};

}  // namespace rankscope::trainer
