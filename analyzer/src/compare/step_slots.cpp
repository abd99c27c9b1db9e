#include "compare/step_slots.h"

#include <algorithm>

namespace rankscope::analyzer {

StepSlots::StepSlots(const StepsSection& steps, RankId rank) {
  const std::vector<std::int64_t> counted = counted_steps(steps);
  for (const StepWindow& window : windows_of(steps, rank)) {
    const auto slot = std::ranges::lower_bound(counted, window.index);
    if (slot == counted.end() || *slot != window.index) continue;
    windows_.push_back(window.window);
    slots_.push_back(static_cast<std::size_t>(slot - counted.begin()));
  }
}

std::size_t StepSlots::first_after(RunTime time) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(windows_, time, {}, &TimeRange::end) - windows_.begin());
}

std::optional<std::size_t> StepSlots::at(RunTime time) const {
  const std::size_t i = first_after(time);
  if (i == windows_.size() || !windows_[i].contains(time)) return std::nullopt;
  return slots_[i];
}

}  // namespace rankscope::analyzer
