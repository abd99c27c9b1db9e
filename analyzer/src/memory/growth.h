// Does memory grow from step to step (metrics.md 14.5)?
#pragma once

#include "rankscope/analyzer/memory/section.h"

#include <span>

namespace rankscope::analyzer {

/// The highest value of one step.
struct StepPeak {
  std::int64_t step = 0;
  std::int64_t bytes = 0;
};

/// From peaks of the counted steps, ascending. `left_bytes`: until the device is full.
[[nodiscard]] MemoryGrowth growth_of(std::span<const StepPeak> peaks, std::optional<std::int64_t> left_bytes,
                                     std::string_view why_none_left);

}  // namespace rankscope::analyzer
