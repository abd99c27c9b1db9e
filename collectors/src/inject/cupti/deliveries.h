// Whether CUPTI still hands its records to this recorder.
#pragma once

#include <atomic>
#include <cstdint>

namespace rankscope::inject::cupti {

/// CUPTI lets another profiler of the process register buffers of its own, or disable kinds, without a word to the one
/// that did so before. So the recorder's own thread calls the driver while nothing is delivered: this call must come
/// back as a record. Where it once did and then does not for a while, the records go elsewhere.
class Deliveries {
 public:
  /// Finds the driver's call. For the thread that flushes.
  void prepare();
  /// Any thread: a buffer came back.
  void delivered() { buffers_.fetch_add(1, std::memory_order_relaxed); }
  /// Any thread: true for a call of the thread that flushes, which is no part of the program.
  bool take_own(std::int64_t thread);
  /// Before a flush.
  void ask();
  /// After it. True once: the records go elsewhere.
  [[nodiscard]] bool are_lost();

 private:
  int (*call_)(int*) = nullptr;
  std::atomic<std::int64_t> thread_{0};
  std::atomic<std::uint64_t> buffers_{0};
  std::atomic<bool> answered_{false};
  std::uint64_t buffers_before_ = 0;
  int silent_rounds_ = 0;
  bool asked_ = false, proven_ = false, said_ = false;
};

}  // namespace rankscope::inject::cupti
