// What every segment of a process has to contain once.
#pragma once

#include <atomic>
#include <cstdint>

#include "inject/recorder/thread_state.h"

namespace rankscope::inject {

/// For a static variable, used by any number of threads. A fork begins a new generation, and a new segment.
class OncePerSegment {
 public:
  /// True for the first caller in each generation.
  [[nodiscard]] bool first() {
    const std::uint64_t now = generation().load(std::memory_order_relaxed);
    return said_in_.load(std::memory_order_relaxed) != now && said_in_.exchange(now) != now;
  }

 private:
  std::atomic<std::uint64_t> said_in_{0};
};

}  // namespace rankscope::inject
