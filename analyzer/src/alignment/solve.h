// One time axis for all clocks that shared operations connect (metrics.md 7.3, 7.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "alignment/domains.h"
#include "alignment/edge_estimate.h"
#include "alignment/edges.h"
#include "alignment/observations.h"
#include "rankscope/analyzer/clocks/section.h"
#include "rankscope/core/model/clock_map.h"

namespace rankscope::analyzer::clocks {

/// From when to when a clock was read, as it showed itself.
struct Shown {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

/// Where a clock stands.
struct Position {
  std::uint32_t reference = 0;  ///< lowest clock that it is connected with; its own number: it is that one, or alone
  ClockMap map;                 ///< to the time of the reference
  double error_ns = 0;          ///< against the reference
  double sigma_ns = 0;          ///< the largest of its edges
  std::size_t operations = 0;   ///< the most of its edges
  bool rate_known = false;
  bool too_far = false;  ///< connected, but not to within `useless_error_ns`: it is its own reference
  std::string doubt;     ///< of the edges that its position rests on
};

/// An edge that can be used, with its place among all edges.
struct Measured {
  std::size_t edge = 0;
  EdgeEstimate estimate;
};

/// What is as far off as wall clocks are tells nothing, be it of one pair or along several.
inline constexpr double useless_error_ns = 10e6;

/// Largest error of an edge while either of its clocks was read.
[[nodiscard]] double error_over(const EdgeEstimate& edge, const Shown& a, const Shown& b);

[[nodiscard]] std::vector<Position> solve(std::span<const Edge> edges, std::span<const Measured> measured,
                                          std::span<const Shown> shown);

// In an operation where all wait for all, nobody ends before everybody started (metrics.md 7.6).

/// Moves clocks as little as makes every operation possible, and never to the middle of what is possible: half of the
/// lateness of a rank that is always late would vanish there. A clock that would have to move by more than its error
/// stays, and gets a doubt.
void keep_possible(std::span<const Edge> edges, std::vector<Position>& positions);

// What alignment leaves of the ends, for people to look at.

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
