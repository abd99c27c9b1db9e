#include "inject/cupti/budget.h"

#include <algorithm>

namespace rankscope::inject::cupti {

void Budget::begin(double share, int seconds, std::int64_t now_ns) {
  share_ = share;
  seconds_ = seconds;
  begun_ns_ = now_ns;
}

void Budget::called(std::int64_t thread, std::int64_t begin_ns, std::int64_t end_ns) {
  const std::int64_t took_ns = begin_ns < 0 || end_ns < begin_ns ? 0 : std::min(end_ns - begin_ns, longest_wait_ns);
  for (Thread& slot : threads_) {
    std::int64_t known = slot.id.load(std::memory_order_relaxed);
    if (known == 0 && slot.id.compare_exchange_strong(known, thread, std::memory_order_relaxed)) known = thread;
    if (known != thread) continue;
    slot.calls.fetch_add(1, std::memory_order_relaxed);
    if (took_ns >= waits_from_ns) slot.waited_ns.fetch_add(took_ns, std::memory_order_relaxed);
    return;
  }
}

double Budget::most_lost(std::int64_t elapsed_ns) {
  std::int64_t most_ns = 0;
  for (Thread& slot : threads_) {
    const std::int64_t cost_ns = slot.calls.exchange(0, std::memory_order_relaxed) * call_costs_ns;
    most_ns = std::max(most_ns, cost_ns - slot.waited_ns.exchange(0, std::memory_order_relaxed));
  }
  // Without the recorder, the time would have been shorter by as much.
  const std::int64_t without_ns = std::max<std::int64_t>(elapsed_ns - most_ns, 1);
  return static_cast<double>(most_ns) / static_cast<double>(without_ns);
}

bool Budget::is_exceeded(std::int64_t now_ns) {
  const std::int64_t elapsed_ns = now_ns - begun_ns_;
  if (share_ <= 0 || exceeded_ || elapsed_ns < period_ns) return false;
  begun_ns_ = now_ns;
  last_share_ = most_lost(elapsed_ns);
  periods_above_ = last_share_ > share_ ? periods_above_ + 1 : 0;
  exceeded_ = periods_above_ >= seconds_;
  return exceeded_;
}

}  // namespace rankscope::inject::cupti
