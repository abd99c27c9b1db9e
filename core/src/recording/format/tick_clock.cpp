#include <atomic>
#include <ctime>
#include <fstream>
#include <string>

#include "rankscope/core/recording/segment_writer.h"

namespace rankscope::recording {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec time{};
  clock_gettime(id, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

ClockSource clock_of_kernel() {
  std::ifstream file{"/sys/devices/system/clocksource/clocksource0/current_clocksource"};
  std::string name;
  return file >> name && name == "tsc" ? ClockSource::tsc : ClockSource::monotonic_ns;
}

// The kernel itself keeps time by the counter: it is constant, never stops, and is equal on all processors. Asked once
// for a process and all that it forks.
bool kernel_trusts_tsc() {
  constexpr int not_asked = -1;
  static std::atomic<int> answer{not_asked};
  if (answer.load(std::memory_order_relaxed) == not_asked)
    answer.store(clock_of_kernel() == ClockSource::tsc ? 1 : 0, std::memory_order_relaxed);
  return answer.load(std::memory_order_relaxed) == 1;
}

}  // namespace

TickClock TickClock::detect() {
  TickClock clock;
#if defined(__x86_64__)
  if (kernel_trusts_tsc()) clock.source_ = ClockSource::tsc;
#endif
  return clock;
}

std::uint64_t TickClock::now_monotonic() { return static_cast<std::uint64_t>(read_clock(CLOCK_MONOTONIC)); }

// The tightest of a few brackets, so that an interruption between the readings does no harm.
ClockPair TickClock::pair() const {
  ClockPair best;
  std::uint64_t smallest = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 5; ++attempt) {
    const std::uint64_t before = now();
    const std::int64_t monotonic = read_clock(CLOCK_MONOTONIC);
    const std::int64_t realtime = read_clock(CLOCK_REALTIME);
    const std::uint64_t after = now();
    if (after - before >= smallest) continue;
    smallest = after - before;
    best = {before + (after - before) / 2, monotonic, realtime};
  }
  return best;
}

}  // namespace rankscope::recording
