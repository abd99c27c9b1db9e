// Steps whose events were thinned out while the job ran, of which there are sums per rank (metrics.md 22).
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"

namespace rankscope::analyzer {

/// What a rank did in the thinned steps.
struct ThinnedRank {
  RankId rank;
  std::int64_t steps = 0;
  TimeSplit total;                    ///< over these steps
  std::int64_t wait_at_least_ns = 0;  ///< communication beyond that of the rank that communicated least in the step
  std::int64_t bytes = 0;             ///< of the operations that it enqueued
  std::int64_t operations = 0;
  std::vector<TimeSplit> per_step;  ///< parallel to ThinnedSection::indices
  std::vector<std::int64_t> bytes_per_step;
};

/// All steps of the run, those with events and those with sums.
struct ThinnedSection {
  StepsSection steps;
  std::vector<RankRow> rows;          ///< all ranks; own times and their parts, parallel to the counted steps
  std::vector<std::int64_t> indices;  ///< of the thinned steps that all ranks have
  std::vector<ThinnedRank> ranks;     ///< by rank
  std::int64_t first_full_step = 0;
};

}  // namespace rankscope::analyzer
