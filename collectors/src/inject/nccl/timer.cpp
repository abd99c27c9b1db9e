#include "inject/nccl/timer.h"

#include <atomic>

#include "rankscope/core/format.h"
#include "rankscope/core/recording/tick_clock.h"

namespace rankscope::inject::nccl {
namespace {

constexpr std::int64_t window_ns = 1'000'000'000;
constexpr std::uint64_t ns_per_tick = 10;

enum class Rate : std::uint8_t { nanoseconds, unproven, proven, refuted };
std::atomic<Rate> rate{Rate::nanoseconds};

/// Nothing but the delay with which the proxy sees a start lies between both advances: a tenth of the second is far
/// more.
bool agree(std::int64_t advance, std::int64_t host_advance) {
  return advance > host_advance / 10 * 9 && advance < host_advance / 10 * 11;
}

void judge_rate(recording::ThreadWriter& pen, std::int64_t advance, std::int64_t host_advance) {
  const bool fits = agree(advance, host_advance);
  rate.store(fits ? Rate::proven : Rate::refuted, std::memory_order_relaxed);
  if (!fits)
    pen.metadata(
        "nccl_timer_problem",
        format("the timer of the GPU does not count 100 million times a second (it counts {} million times), "
               "so the times of channels are those of the host",
               advance / static_cast<std::int64_t>(ns_per_tick) * 1000 / (host_advance > 0 ? host_advance : 1)));
}

/// The proxy sees the time at which a channel started a little after it did; the smallest delay of a second is the
/// best one to set the clock by, and becomes an anchor.
class GlobalTimer {
 public:
  /// Where two threads come at once, one is left out.
  void saw(recording::ThreadWriter& pen, std::int64_t gpu_ns);

 private:
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::int64_t window_begin_ = 0;  ///< CLOCK_MONOTONIC; 0 = nothing was seen yet
  std::int64_t first_gpu_ns_ = 0;  ///< what the timer showed at the begin of the window
  std::int64_t best_delay_ = 0;    ///< host - accelerator, ns
  std::int64_t best_gpu_ns_ = 0;
  std::uint64_t best_ticks_ = 0;
};

void GlobalTimer::saw(recording::ThreadWriter& pen, std::int64_t gpu_ns) {
  static const recording::TickClock clock = recording::TickClock::detect();
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  const std::uint64_t ticks = clock.now();
  const auto now = static_cast<std::int64_t>(recording::TickClock::now_monotonic());
  const std::int64_t delay = now - gpu_ns;
  const bool is_first = window_begin_ == 0;
  const bool is_over = !is_first && now - window_begin_ >= window_ns;
  if (is_over && rate.load(std::memory_order_relaxed) == Rate::unproven)
    judge_rate(pen, gpu_ns - first_gpu_ns_, now - window_begin_);
  if (is_over) pen.anchor(recording::ForeignClock::globaltimer, best_ticks_, best_gpu_ns_);
  if (is_first || is_over) {
    window_begin_ = now;
    first_gpu_ns_ = gpu_ns;
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

GlobalTimer global_timer;

}  // namespace

void timer_counts_ticks() noexcept {
  Rate known = Rate::nanoseconds;
  rate.compare_exchange_strong(known, Rate::unproven, std::memory_order_relaxed);
}

std::uint64_t ns_of_timer(std::uint64_t shown) {
  return rate.load(std::memory_order_relaxed) == Rate::nanoseconds ? shown : shown * ns_per_tick;
}

bool saw_timer(recording::ThreadWriter& pen, std::int64_t gpu_ns) {
  if (rate.load(std::memory_order_relaxed) == Rate::refuted) return false;
  global_timer.saw(pen, gpu_ns);
  const Rate now = rate.load(std::memory_order_relaxed);
  return now == Rate::nanoseconds || now == Rate::proven;
}

}  // namespace rankscope::inject::nccl
