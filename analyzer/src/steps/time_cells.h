// The time of a rank in pieces of which each is counted whole or not at all, whatever steps are counted later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "steps/counted_windows.h"
#include "steps/local.h"

namespace rankscope::analyzer {

/// All of time, cut where a step or the recording of the rank begins or ends. Thinned steps cut nothing: they have no
/// events, and are never counted with those that have. The first and the last piece have no bound. What a local half
/// adds up by cell, a global half adds up over those that its counted windows consist of.
class TimeCells {
 public:
  TimeCells(TimeRange recorded, std::span<const StepWindow> windows);

  [[nodiscard]] std::size_t count() const { return bounds_.size() + 1; }
  /// Those with two bounds: from 1 on.
  [[nodiscard]] std::size_t bounded() const { return bounds_.size() - 1; }
  /// The cell that the instant lies in.
  [[nodiscard]] std::size_t at(RunTime time) const;
  [[nodiscard]] TimeRange range(std::size_t cell) const;
  /// The first cell of the window and the one behind its last; its ends must be bounds.
  [[nodiscard]] std::pair<std::size_t, std::size_t> of(TimeRange window) const {
    return {at(window.begin), at(window.end)};
  }

 private:
  std::vector<RunTime> bounds_;  // ascending, each once; never empty
};

/// A rank whose numbers are summed: which of its time is counted.
struct CountedRank {
  RankId rank{};
  TimeCells cells;
  CountedWindows windows;
};
/// `windows` are steps of the rank that the counted ones are among; the cells are cut at them.
[[nodiscard]] CountedRank counted_rank(const Run& run, RankId rank, const Section<StepsSection>& steps,
                                       std::span<const StepWindow> windows);
/// The same from a digest: the times are those of the part, even if those of the steps were moved by clocks.
[[nodiscard]] CountedRank counted_rank(const StepsPart& part, const Section<StepsSection>& steps);

/// In how many of the counted windows each cell lies: in more than one where steps overlap.
[[nodiscard]] std::vector<std::int64_t> windows_of_cells(const CountedRank& rank);

/// By cell, two questions that differ only where the whole recording counts.
struct CountedCells {
  std::vector<bool> begins;  ///< what begins in the cell is counted
  std::vector<bool> time;    ///< the time of the cell is counted
};
[[nodiscard]] CountedCells counted_cells(const CountedRank& rank);

}  // namespace rankscope::analyzer
