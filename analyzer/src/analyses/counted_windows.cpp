#include "analyses/counted_windows.h"

namespace rankscope::analyzer {

CountedWindows counted_windows(const Run& run, RankId rank, const Section<StepsSection>& steps) {
  CountedWindows windows;
  if (steps) {
    for (const StepWindow& window : windows_of(*steps, rank)) {
      if (steps->counted(window.index)) windows.ranges.push_back(window.window);
    }
  }
  windows.steps = static_cast<std::int64_t>(windows.ranges.size());
  if (windows.steps == 0) windows.ranges.push_back(run.process_of(rank).recorded);
  return windows;
}

std::string why_nothing_counts(const Section<StepsSection>& steps, const ReportOptions& options) {
  if (!options.steps) return {};
  if (!steps) return steps.error().why;
  if (!counted_steps(*steps).empty()) return {};
  return "none of the steps asked for is complete and behind the warm-up (--include-warmup counts that, too)";
}

}  // namespace rankscope::analyzer
