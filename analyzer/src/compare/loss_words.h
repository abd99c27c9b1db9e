// Losses in words (metrics.md 17.4).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/core/id.h"
#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer {

/// How much of a counter counts as lost in what is compared, or elsewhere.
struct LostAmount {
  std::uint64_t amount = 0;
  std::vector<RankId> ranks{};  ///< ascending; empty: not known
};

/// Counters whose losses can hide that steps became longer. Of the others, some concern no step (samples of GPU
/// counters), and some lose the same in each run of a job (collectives of unknown groups).
[[nodiscard]] std::span<const Counter> counters_of_losses();
/// "12 events of ranks 0, 3 were dropped because the ring buffer was full".
[[nodiscard]] std::string loss_text(Counter counter, const LostAmount& lost);

/// Ranges of steps, ascending: the steps that are missing of a long run may be many.
using StepRanges = std::vector<StepRange>;
/// Of steps in ascending order, each once.
[[nodiscard]] StepRanges ranges_of(std::span<const std::int64_t> steps);
[[nodiscard]] std::int64_t count_of(const StepRanges& ranges);
/// "20 to 39", "3, 7 to 9 and others".
[[nodiscard]] std::string step_list(const StepRanges& ranges);

}  // namespace rankscope::analyzer
