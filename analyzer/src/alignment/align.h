// Brings the clocks of all ranks to one time axis (metrics.md 7).
#pragma once

#include <memory>
#include <string>

#include "clocks/model.h"
#include "rankscope/analyzer/clocks/section.h"
#include "rankscope/core/model/run_parts.h"

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

// Operations of which the recording does not say that they are one, found by their times (metrics.md 5, K5 and K6).

/// What became of calls that name no group or no partner.
struct TimeMatching {
  std::shared_ptr<const Run> run;  ///< with groups that are `by_ends`; null: none was found
  std::string note;                ///< what was found, or why nothing was; empty: nothing had to be looked for
};

/// Collectives: parts of one kind on different ranks that end within 50 µs of one another, in the same order on all of
/// them, are one operation; or those that end within 1 ms, with no second candidate near, where that finds more. Times
/// are compared as they were recorded: where clocks are farther apart, nothing agrees. Nothing is concluded unless at
/// least three operations of the same ranks are found, ten times as many as chance would give, and a tenth of all
/// parts.
[[nodiscard]] TimeMatching match_by_ends(const Run& run);

/// Sends and receives without partners, paired by when sends began and receives ended (see pair_sites).
[[nodiscard]] TimeMatching match_pairs(const Run& run);

}  // namespace rankscope::analyzer
