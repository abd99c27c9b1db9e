// Ranks that stand still now and then (metrics.md 9.4, "transient").
#pragma once

#include "split/peers.h"

namespace rankscope::analyzer {

/// The stalls of one rank.
struct Stalls {
  std::size_t peer = 0;
  std::vector<std::size_t> steps;     ///< positions among the counted steps
  std::int64_t excess_ns = 0;         ///< together, beyond the rank's own median
  std::optional<std::size_t> period;  ///< in counted steps
};

/// Ranks with transient stalls. `wall_ns` is the time of all counted steps of the job.
[[nodiscard]] std::vector<Stalls> find_stalls(const OwnTimes& times, std::int64_t wall_ns);

}  // namespace rankscope::analyzer
