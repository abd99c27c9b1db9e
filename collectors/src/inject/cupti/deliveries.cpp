#include "inject/cupti/deliveries.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "cupti/cuda_driver.h"

namespace rankscope::inject::cupti {
namespace {

constexpr int silent_rounds_until_lost = 6;  // 3 s of flushes

}  // namespace

void Deliveries::prepare() {
  call_ = collectors::harmless_driver_call();
  thread_.store(syscall(SYS_gettid), std::memory_order_relaxed);
}

bool Deliveries::take_own(std::int64_t thread) {
  if (thread != thread_.load(std::memory_order_relaxed)) return false;
  answered_.store(true, std::memory_order_relaxed);
  return true;
}

/// The first time at once, so that an answer is known before another profiler comes; later only in silence.
void Deliveries::ask() {
  asked_ = call_ != nullptr && (!proven_ || silent_rounds_ > 0);
  answered_.store(false, std::memory_order_relaxed);
  int count = 0;
  if (asked_) call_(&count);
}

bool Deliveries::are_lost() {
  const std::uint64_t buffers = buffers_.load(std::memory_order_relaxed);
  const bool silent = buffers == buffers_before_;
  buffers_before_ = buffers;
  if (asked_ && answered_.load(std::memory_order_relaxed)) proven_ = true;
  silent_rounds_ = silent ? silent_rounds_ + 1 : 0;
  if (said_ || !proven_ || silent_rounds_ <= silent_rounds_until_lost) return false;
  said_ = true;
  return true;
}

}  // namespace rankscope::inject::cupti
