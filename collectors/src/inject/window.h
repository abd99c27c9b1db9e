// Whether events are stored right now: the recording window of steps, and the end of the recording.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include "../inject_settings.h"

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
  /// Stops for good (--duration).
  void finish();
  /// A step span begins; `told` says who names it. True if this span is counted as a step and must be reported to
  /// end_step.
  enum class Told : std::uint8_t { annotate, nvtx };
  bool begin_step(Told told);
  void end_step();

 private:
  void apply(std::uint64_t step);

  std::optional<collectors::StepWindow> window_;
  std::atomic<std::uint64_t> begun_{0};
  std::atomic<bool> inside_{false};  // a step inside a step is not counted
  std::atomic<bool> finished_{false};
  std::atomic<int> teller_{-1};  // the first that names a step is believed; the other one repeats it
};
extern WindowControl window_control;

/// "step", "step 3", "Step#3", "ProfilerStep#12", "iteration 7", "train_step": a range that users name a step.
[[nodiscard]] bool names_a_step(std::string_view name);

}  // namespace rankscope::inject
