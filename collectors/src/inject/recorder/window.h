// Whether events are stored right now: the recording window of steps, and the end of the recording.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "settings/inject_settings.h"

namespace rankscope::inject {

/// Read at every event; one cache line of its own.
struct alignas(64) Gate {
  std::atomic<bool> open{true};
  std::atomic<bool> counts_steps{false};  ///< --window is set: step spans move the window
};
extern Gate gate;

/// Counts steps for --window and opens and shuts the gate.
class WindowControl {
 public:
  void set(const std::optional<collectors::StepWindow>& window);
  /// Stops and goes on (--toggle). Any number of times with the same value.
  void switch_to(bool on);
  /// Stops for good: --duration, or the last window is over.
  void finish();
  /// A step span begins; `marked_by` says who names it. True if this span is counted as a step and must be reported to
  /// end_step.
  enum class MarkedBy : std::uint8_t { annotate, nvtx };
  bool begin_step(MarkedBy marked_by);
  void end_step();
  /// Whether events were stored at a time of CLOCK_REALTIME: for what is told afterwards. Of very many changes of the
  /// window only the latest are known.
  [[nodiscard]] bool was_open(std::int64_t realtime_ns) const;
  /// Since it was opened, or shut, last; 0 if it never was.
  [[nodiscard]] std::int64_t unchanged_for_ns() const;
  /// Outside of the window, with steps of warm-up before the next one.
  [[nodiscard]] bool is_waiting() const { return waiting_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_switched_off() const { return !on_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool is_finished() const { return finished_.load(std::memory_order_relaxed); }

 private:
  void apply(std::uint64_t step);
  [[nodiscard]] bool wants_open() const;
  void update();
  void turn(bool open);

  static constexpr std::size_t most_changes = 1024;
  std::array<std::atomic<std::int64_t>, most_changes>
      changes_{};                               // when, shifted by one, and whether it opened; 0: none
  std::atomic<std::uint64_t> next_place_{0};    // for a change that is about to be stored
  std::atomic<std::uint64_t> change_count_{0};  // up to the latest that has been stored

  std::optional<collectors::StepWindow> window_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<bool> inside_{false};  // a step inside a step is not counted
  std::atomic<bool> in_window_{true};
  std::atomic<bool> waiting_{false};
  std::atomic<bool> on_{true};
  std::atomic<bool> finished_{false};
  std::atomic<int> first_marked_by_{-1};  // the first that names a step is believed; the other one repeats it
};
extern WindowControl window_control;

}  // namespace rankscope::inject
