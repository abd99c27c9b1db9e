// Waiting for a mutex for a limited time.
#pragma once

#include <chrono>
#include <mutex>
#include <thread>

namespace rankscope::inject {

/// Owns the mutex, or not: it was held by others for `patience`. In the place of std::timed_mutex, which waits by a
/// function of libc that ThreadSanitizer of GCC 12 does not know.
inline std::unique_lock<std::mutex> lock_within(std::mutex& mutex, std::chrono::nanoseconds patience) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex, std::try_to_lock);
  const auto end = Clock::now() + patience;
  while (!lock.owns_lock() && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    static_cast<void>(lock.try_lock());
  }
  return lock;
}

}  // namespace rankscope::inject
