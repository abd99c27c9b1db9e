#include "inject/nccl/timer.h"

#include "rankscope/core/recording/tick_clock.h"

namespace rankscope::inject::nccl {

void GlobalTimer::saw(recording::ThreadWriter& pen, std::int64_t gpu_ns) {
  static const recording::TickClock clock = recording::TickClock::detect();
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  const std::uint64_t ticks = clock.now();
  const auto now = static_cast<std::int64_t>(recording::TickClock::now_monotonic());
  const std::int64_t delay = now - gpu_ns;
  const bool is_first = window_begin_ == 0;
  if (!is_first && now - window_begin_ >= window_ns)
    pen.anchor(recording::ForeignClock::globaltimer, best_ticks_, best_gpu_ns_);
  if (is_first || now - window_begin_ >= window_ns) {
    window_begin_ = now;
    best_delay_ = INT64_MAX;
  }
  if (delay < best_delay_) {
    best_delay_ = delay;
    best_gpu_ns_ = gpu_ns;
    best_ticks_ = ticks;
  }
  // At once, so that a process that dies early has one, too.
  if (is_first) pen.anchor(recording::ForeignClock::globaltimer, ticks, gpu_ns);
  busy_.clear(std::memory_order_release);
}

}  // namespace rankscope::inject::nccl
