// Rounds of a thread, at equal distances.
#pragma once

#include <time.h>

#include <algorithm>
#include <cstdint>

namespace rankscope::collectors {

/// Wakes a thread every `period_ns`. What took longer than that is not caught up on, so that the thread always sleeps
/// in between.
class Pace {
 public:
  explicit Pace(std::int64_t period_ns) : period_ns_(period_ns), due_ns_(now_ns()) {}
  /// Until the next round.
  void wait() {
    due_ns_ = next_after(due_ns_, now_ns(), period_ns_);
    sleep_until(due_ns_);
  }
  /// Until the next round, or until `goes_on` says no, which is asked ten times a second.
  template <class GoesOn>
  void wait_while(GoesOn goes_on) {
    due_ns_ = next_after(due_ns_, now_ns(), period_ns_);
    for (std::int64_t now = now_ns(); now < due_ns_ && goes_on(); now = now_ns())
      sleep_until(std::min(due_ns_, now + longest_sleep_ns));
  }
  /// When the next round is due; the last one was at `due_ns`.
  [[nodiscard]] static constexpr std::int64_t next_after(std::int64_t due_ns, std::int64_t now_ns,
                                                         std::int64_t period_ns) {
    const std::int64_t next = due_ns + period_ns;
    return next > now_ns ? next : now_ns + period_ns;
  }

 private:
  static constexpr std::int64_t longest_sleep_ns = 100'000'000;

  static void sleep_until(std::int64_t time_ns) {
    const timespec time{.tv_sec = time_ns / 1'000'000'000, .tv_nsec = time_ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
  }
  static std::int64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  std::int64_t period_ns_;
  std::int64_t due_ns_;
};

}  // namespace rankscope::collectors
