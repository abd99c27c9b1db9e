// From the whole time of the devices down to what the model needs at their peak (metrics.md 15.4).
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/flops/section.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/section.h"

namespace rankscope::analyzer {

/// The rows and the ranks must be of the same ranks.
[[nodiscard]] Section<Ladder> loss_ladder(const std::vector<RankFlops>& ranks, const std::vector<TimeSplit>& splits,
                                          const std::string& why_no_peak);

}  // namespace rankscope::analyzer
