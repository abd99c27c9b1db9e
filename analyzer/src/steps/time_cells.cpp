#include "steps/time_cells.h"

#include <algorithm>
#include <numeric>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

TimeCells::TimeCells(TimeRange recorded, std::span<const StepWindow> windows) : bounds_{recorded.begin, recorded.end} {
  for (const StepWindow& step : windows) {
    if (step.thinned) continue;
    bounds_.push_back(step.window.begin);
    bounds_.push_back(step.window.end);
  }
  std::ranges::sort(bounds_);
  const auto repeated = std::ranges::unique(bounds_);
  bounds_.erase(repeated.begin(), repeated.end());
}

std::size_t TimeCells::at(RunTime time) const {
  return static_cast<std::size_t>(std::ranges::upper_bound(bounds_, time) - bounds_.begin());
}

TimeRange TimeCells::range(std::size_t cell) const {
  return {cell == 0 ? RunTime::min() : bounds_[cell - 1], cell == bounds_.size() ? RunTime::max() : bounds_[cell]};
}

CountedRank counted_rank(const Run& run, RankId rank, const Section<StepsSection>& steps,
                         std::span<const StepWindow> windows) {
  return {rank, TimeCells{run.process_of(rank).recorded, windows}, counted_windows(run, rank, steps)};
}

CountedRank counted_rank(const StepsPart& part, const Section<StepsSection>& steps) {
  CountedRank counted{part.rank, TimeCells{part.recorded, part.windows}, {}};
  CountedWindows& own = counted.windows;
  if (steps) {
    for (const StepWindow& window : windows_of(*steps, part.rank)) {
      if (!steps->counted(window.index)) continue;
      const auto found = std::ranges::lower_bound(part.windows, window.index, {}, &StepWindow::index);
      if (found != part.windows.end() && found->index == window.index) own.ranges.push_back(found->window);
    }
  }
  own.steps = static_cast<std::int64_t>(own.ranges.size());
  if (own.steps == 0) own.ranges.push_back(part.recorded);
  return counted;
}

std::vector<std::int64_t> windows_of_cells(const CountedRank& rank) {
  std::vector<std::int64_t> windows(rank.cells.count());  // first the differences from the cell before
  for (const TimeRange& window : rank.windows.ranges) {
    const auto [first, last] = rank.cells.of(window);
    if (first >= last) continue;
    ++windows[first];
    --windows[last];
  }
  std::partial_sum(windows.begin(), windows.end(), windows.begin());
  return windows;
}

CountedCells counted_cells(const CountedRank& rank) {
  CountedCells cells;
  for (const std::int64_t windows : windows_of_cells(rank)) {
    cells.time.push_back(windows > 0);
    cells.begins.push_back(windows > 0 || rank.windows.steps == 0);
  }
  return cells;
}

}  // namespace rankscope::analyzer
