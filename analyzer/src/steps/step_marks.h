// Where the steps of a rank begin: metrics.md 1.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Best first; all ranks of a run use the same.
enum class MarkSource : std::uint8_t {
  step_spans,    ///< spans of kind step, numbered by their attribute "index"
  named_ranges,  ///< user ranges (NVTX) named like a step: "step 3", "Iteration_3", "ProfilerStep#3", "step"
};
inline constexpr std::size_t mark_source_count = 2;
[[nodiscard]] std::string_view name_of(MarkSource source);

struct StepMark {
  std::int64_t index = 0;
  TimeRange time;
  bool cut = false;
  LaneId lane{};  ///< the thread; equal for all marks of a rank
  SpanId sums{};  ///< the span, if its events were thinned out: its attributes are what is left of them
};

/// The marks of the lane that has most of them, by begin; indices that do not rise are dropped.
[[nodiscard]] std::vector<StepMark> step_marks(const Run& run, RankId rank, MarkSource source);

}  // namespace rankscope::analyzer
