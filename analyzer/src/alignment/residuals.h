// What alignment leaves of the ends, for people to look at.
#pragma once

#include <span>
#include <vector>

#include "alignment/domains.h"
#include "alignment/observations.h"
#include "rankscope/analyzer/clocks/section.h"
#include "rankscope/core/model/clock_map.h"

namespace rankscope::analyzer::clocks {

/// Per clock, by time; at most 200 points of each, fewer where there are many clocks.
[[nodiscard]] std::vector<std::vector<ClockResidual>> residuals_of(const Observations& all, const Domains& domains,
                                                                   std::span<const ClockMap> maps);

/// Of one rank: how much later its ends are than the median of its clock's, in the median of the operations in which
/// devices of several ranks of the clock took part.
struct RankResidual {
  std::size_t operations = 0;
  double late_ns = 0;
  double sigma_ns = 0;
};
/// Parallel to Run::ranks(); of a rank without such operations all is 0.
[[nodiscard]] std::vector<RankResidual> rank_residuals(const Observations& all, const Domains& domains);

}  // namespace rankscope::analyzer::clocks
