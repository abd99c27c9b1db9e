// Where each step begins and ends (metrics.md 1).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/time.h"

namespace rankscope::analyzer {

/// Fewer counted steps have no jitter worth a number (metrics.md 1.7).
inline constexpr std::int64_t least_for_jitter = 5;
/// Counted steps from which texts show p90 and jitter instead of the shortest and the longest step.
inline constexpr std::int64_t least_for_spread = 10;

/// One step of one rank: metrics.md 1.2. The windows of a rank tile its recording from the first to the last mark.
struct StepWindow {
  RankId rank;
  std::int64_t index = 0;
  TimeRange window;
  bool complete = false;
  bool thinned = false;  ///< its events were thinned out while the job ran
  /// Of a thinned step of a run: the span with the sums of its events. Not set in a digest, which has no spans.
  SpanId sums{};
  bool operator==(const StepWindow&) const = default;
};

/// One step of the job: metrics.md 1.4.
struct Step {
  std::int64_t index = 0;
  TimeRange time;            ///< clocks refused: in the lowest rank's clock
  std::int64_t wall_ns = 0;  ///< length of `time`; clocks refused: longest window of any rank (1.4)
  bool complete = false;     ///< on all present ranks
  bool warm_up = false;      ///< left out of statistics (1.6)
};

/// When the steps of the job were, and which of them count.
struct StepsSection {
  std::string source;               ///< where the marks came from: "step spans", ...
  std::vector<Step> steps;          ///< by index
  std::vector<StepWindow> windows;  ///< by (rank, index)
  std::int64_t median_ns = 0;       ///< of the counted steps: complete and no warm-up
  std::int64_t p90_ns = 0;
  std::int64_t mean_ns = 0;  ///< what gains per average step are a part of
  double jitter = 0;         ///< robust sigma / median (1.7)
  /// How much later than its mark the first step begins at most, because accelerators still ran what had been launched
  /// before the recording (1.2).
  std::int64_t leftovers_ns = 0;
  bool clocks_refused = false;  ///< wall is the longest window, not a difference of run times
  [[nodiscard]] bool counted(std::int64_t index) const;
  /// Of an average step; 0 where no step was counted.
  [[nodiscard]] double share_of_step(std::int64_t ns) const {
    return mean_ns > 0 ? static_cast<double>(ns) / static_cast<double>(mean_ns) : 0;
  }
};

}  // namespace rankscope::analyzer
