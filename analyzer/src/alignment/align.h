// Brings the clocks of all ranks to one time axis (metrics.md 7).
#pragma once

#include <memory>

#include "clocks/model.h"
#include "rankscope/analyzer/clocks/section.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

struct Alignment {
  std::shared_ptr<const Run> moved;  ///< in run time, with groups found by ends; null: the run as it was recorded
  ClockInfo clock;                   ///< method, and the largest error between two ranks that may be compared
  ClockModel model;
  ClocksSection section;
  Quality quality;
};

/// Never absorbs a rank that is always late: only ends are looked at, and these wait for the last rank.
[[nodiscard]] Alignment align_clocks(const Run& run);

}  // namespace rankscope::analyzer
