#include "rankscope/gui/models/steps.h"

#include <algorithm>

namespace rankscope::gui {

const analyzer::StepWindow* step_at(const analyzer::Report* report, RankId rank, RunTime moment) {
  if (report == nullptr || !report->steps) return nullptr;
  const auto& windows = report->steps->windows;
  const auto found = std::ranges::find_if(
      windows, [&](const analyzer::StepWindow& step) { return step.rank == rank && step.window.contains(moment); });
  return found == windows.end() ? nullptr : &*found;
}

}  // namespace rankscope::gui
