// How the length of steps went over the run (metrics.md 1.7, 9.5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/analyzer/stragglers/section.h"

namespace rankscope::analyzer {

/// Of one rank: what of its own time grew.
struct GrownPart {
  RankId rank;
  StragglerKind kind = StragglerKind::mixed;
  std::int64_t before_ns = 0;  ///< own time of a step, median
  std::int64_t after_ns = 0;
};

/// From one step on the steps are longer or shorter than before.
struct StepChange {
  std::int64_t step = 0;           ///< the first one of the new length
  std::int64_t before_ns = 0;      ///< median length up to it, back to the change before
  std::int64_t after_ns = 0;       ///< median length from it to the next change
  bool lasts = false;              ///< up to the end of the run
  std::vector<GrownPart> ranks{};  ///< whose own time changed the same way by 5 % or more, by rank; none: communication
  std::string why_no_ranks{};      ///< set where none means that it is not known

  [[nodiscard]] double ratio() const { return static_cast<double>(after_ns) / static_cast<double>(before_ns); }
};

/// A step much longer than those around it.
struct OddStep {
  std::int64_t step = 0;
  std::int64_t wall_ns = 0;
  std::int64_t excess_ns = 0;      ///< above the median of the steps between the changes around it
  std::vector<GrownPart> ranks{};  ///< whose own time grew by half of the excess or more; none: communication
  std::string why_no_ranks{};      ///< set where none means that it is not known
};

/// How the length of steps developed: lasting changes, and single steps that were longer.
struct TrendSection {
  std::vector<StepChange> changes;  ///< by step
  std::vector<OddStep> odd_steps;   ///< by step
  std::string why_no_changes;       ///< why changes could not be looked for; "" = they were
};

}  // namespace rankscope::analyzer
