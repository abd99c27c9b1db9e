// What two clocks saw of the same operations.
#pragma once

#include <cstdint>
#include <vector>

#include "alignment/domains.h"
#include "alignment/observations.h"

namespace rankscope::analyzer::clocks {

/// One operation on two clocks.
struct Shared {
  std::int64_t end_a = 0;  ///< median of the ends of the ranks of that clock
  std::int64_t end_b = 0;
  std::int64_t start_a = 0;  ///< of its last rank
  std::int64_t start_b = 0;
};

/// The operations that clocks a < b share, by end_a.
struct Edge {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::vector<Shared> operations;
};

/// By (a, b). All pairs in operations of at most 8 clocks; in larger ones each clock with the first only, so that
/// thousands of clocks do not make millions of pairs.
[[nodiscard]] std::vector<Edge> edges_between(const Observations& all, const Domains& domains);

}  // namespace rankscope::analyzer::clocks
