// Which counted step of a rank a time lies in.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "steps/find.h"

namespace rankscope::analyzer {

class StepSlots {
 public:
  StepSlots(const StepsSection& steps, RankId rank);

  /// The place of a step among the counted ones of the run.
  [[nodiscard]] std::optional<std::size_t> at(RunTime time) const;
  /// Calls add(slot, ns) for each counted step that the stretch touches.
  template <class Add>
  void over(TimeRange stretch, Add add) const {
    for (std::size_t i = first_after(stretch.begin); i < windows_.size() && windows_[i].begin < stretch.end; ++i)
      add(slots_[i], intersect(windows_[i], stretch).length().count());
  }

 private:
  /// The first window that ends after a time.
  [[nodiscard]] std::size_t first_after(RunTime time) const;

  std::vector<TimeRange> windows_;  // of the counted steps, ascending
  std::vector<std::size_t> slots_;  // parallel
};

}  // namespace rankscope::analyzer
