// Work that does not depend on its order, on all cores.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace rankscope {

/// Calls work(0) ... work(count - 1), each once, on at most as many threads as there are cores, this one among them.
template <class Work>
void side_by_side(std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  const auto some = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t threads = std::min<std::size_t>(std::max(1U, std::thread::hardware_concurrency()), count);
  std::vector<std::jthread> helpers;
  try {
    while (helpers.size() + 1 < threads) helpers.emplace_back(some);
  } catch (const std::system_error&) {
    // No more threads are allowed here (ulimit -u, cgroups): those that there are do it all.
  }
  some();
}

}  // namespace rankscope
