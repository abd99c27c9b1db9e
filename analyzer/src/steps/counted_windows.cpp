#include "steps/counted_windows.h"

#include <algorithm>

#include "rankscope/core/model/run.h"
#include "steps/parts.h"

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

std::vector<RankId> ranks_to_sum(std::vector<RankId> ranks, const Section<StepsSection>& steps) {
  if (!steps || counted_steps(*steps).empty()) return ranks;
  const auto has_none = [&](RankId rank) { return windows_of(*steps, rank).empty(); };
  if (!std::ranges::all_of(ranks, has_none)) std::erase_if(ranks, has_none);
  return ranks;
}

std::vector<RankId> ranks_to_sum(const Run& run, const Section<StepsSection>& steps, const ReportOptions& options,
                                 Among among) {
  std::vector<RankId> ranks;
  for (const RankId rank : run.ranks())
    if (is_asked_for(options, rank) && (among == Among::all_ranks || run.has_accelerator(rank))) ranks.push_back(rank);
  return ranks_to_sum(std::move(ranks), steps);
}

std::string why_nothing_counts(const Section<StepsSection>& steps, const ReportOptions& options) {
  if (!options.steps) return {};
  if (!steps) return steps.error().why;
  if (!counted_steps(*steps).empty()) return {};
  return "none of the chosen steps is both complete and after the warm-up (--include-warmup counts the warm-up, too)";
}

}  // namespace rankscope::analyzer
