#include "inject/recorder/window.h"

#include <time.h>

#include <algorithm>

namespace rankscope::inject {
namespace {

std::int64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

constinit Gate gate;
WindowControl window_control;

void WindowControl::set(const std::optional<collectors::StepWindow>& window) {
  window_ = window;
  if (!window_) return;
  gate.counts_steps.store(true, std::memory_order_relaxed);
  apply(0);
}

void WindowControl::switch_to(bool on) {
  on_.store(on);
  if (wants_open() != gate.open.load(std::memory_order_relaxed)) update();  // also where a step came in between
}

void WindowControl::finish() {
  finished_.store(true);
  turn(false);
}

bool WindowControl::begin_step(MarkedBy marked_by) {
  int nobody = -1;
  const int source = static_cast<int>(marked_by);
  if (!first_marked_by_.compare_exchange_strong(nobody, source) && nobody != source) return false;
  if (!window_ || inside_.exchange(true)) return false;
  apply(begun_.fetch_add(1));
  return true;
}

void WindowControl::end_step() {
  apply(begun_.load());  // what comes before the next step belongs to it
  inside_.store(false);
}

void WindowControl::apply(std::uint64_t step) {
  in_window_.store(window_->records(step));
  waiting_.store(window_->warmup > 0 && window_->waits(step));
  window_->is_over(step) ? finish() : update();
}

bool WindowControl::wants_open() const { return !finished_.load() && on_.load() && in_window_.load(); }

void WindowControl::update() { turn(wants_open()); }

void WindowControl::turn(bool open) {
  if (gate.open.exchange(open, std::memory_order_relaxed) == open) return;
  const std::int64_t ns = realtime_ns();
  const std::uint64_t place = next_place_.fetch_add(1, std::memory_order_relaxed);
  changes_[place % most_changes].store(ns << 1 | (open ? 1 : 0), std::memory_order_release);
  std::uint64_t count = change_count_.load(std::memory_order_relaxed);
  while (count <= place && !change_count_.compare_exchange_weak(count, place + 1, std::memory_order_release)) {
  }
}

std::int64_t WindowControl::unchanged_for_ns() const {
  const std::uint64_t count = change_count_.load(std::memory_order_acquire);
  if (count == 0) return 0;
  return realtime_ns() - (changes_[(count - 1) % most_changes].load(std::memory_order_acquire) >> 1);
}

bool WindowControl::was_open(std::int64_t realtime_ns) const {
  const std::uint64_t count = change_count_.load(std::memory_order_acquire);
  bool before = true;  // as it is until it is changed
  for (std::uint64_t back = 1; back <= std::min<std::uint64_t>(count, most_changes); ++back) {
    const std::int64_t change = changes_[(count - back) % most_changes].load(std::memory_order_acquire);
    if (change == 0) continue;  // another thread is about to store it
    const bool opened = (change & 1) != 0;
    if (change >> 1 <= realtime_ns) return opened;
    before = !opened;
  }
  return before;
}

}  // namespace rankscope::inject
