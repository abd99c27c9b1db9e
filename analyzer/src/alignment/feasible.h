// In an operation where all wait for all, nobody ends before everybody started (metrics.md 7.6).
#pragma once

#include <span>
#include <vector>

#include "alignment/edges.h"
#include "alignment/solve.h"

namespace rankscope::analyzer::clocks {

/// Moves clocks as little as makes every operation possible, and never to the middle of what is possible: half of the
/// lateness of a rank that is always late would vanish there. A clock that would have to move by more than its error
/// stays, and gets a doubt.
void keep_possible(std::span<const Edge> edges, std::vector<Position>& positions);

}  // namespace rankscope::analyzer::clocks
