// Why nothing ran on the accelerators of a rank (metrics.md 2.7).
#pragma once

#include <cstdint>
#include <vector>

#include "math/interval_set.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// A stretch of time in which nothing ran, for one reason.
struct IdleStretch {
  TimeRange time;
  IdleReason reason;
};

/// Every instant outside `busy` between `window.begin` and `window.end`, ascending and disjoint.
[[nodiscard]] std::vector<IdleStretch> device_idle(const Run& run, RankId rank, const IntervalSet& busy,
                                                   TimeRange window);

/// Of these stretches, in which only communication ran: those in which the host had not yet launched the work that
/// follows, though nothing blocked it. The communication held up nothing then.
[[nodiscard]] std::vector<TimeRange> host_late_during(const Run& run, RankId rank, const IntervalSet& communication);

}  // namespace rankscope::analyzer
