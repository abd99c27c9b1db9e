// Who came last (of a broadcast: for whom the others waited): once per step, or once per operation where there are few
// steps (metrics.md 9.4).
#pragma once

#include "rankscope/analyzer/collectives/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// The operation of a step with the longest wait.
struct LongestWait {
  RankId late;               ///< for whom it was; none where that is not known
  std::int64_t wait_ns = 0;  ///< mean of the other members
};

/// Last arrivers whose lateness is a fact, and out of how many operations.
struct Arrivals {
  std::vector<RankId> last;
  std::int64_t trials = 0;
  std::vector<LongestWait> longest_of_step{};  ///< of the counted steps with operations
  bool by_operation = false;                   ///< fewer than 20 steps: all matched operations count instead of steps
  [[nodiscard]] std::int64_t times_last(RankId rank) const;
};

[[nodiscard]] Arrivals last_arrivals(const Run& run, const StepsSection& steps, const CollectivesSection& collectives);

/// Entropy of the shares of the last arrivers, divided by ln of the number of ranks: 1 = everybody equally often.
[[nodiscard]] double evenness(const Arrivals& arrivals, std::span<const RankId> ranks);

}  // namespace rankscope::analyzer
