// Ranks of the job that left no recording.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "words/units.h"

namespace rankscope::analyzer {

/// As ranges: a damaged file may claim billions.
struct AbsentRanks {
  std::vector<RankRange> ranges{};
  std::int64_t count = 0;

  [[nodiscard]] RankId first() const { return RankId{static_cast<std::uint32_t>(ranges.front().first)}; }
};
/// None in a run without ranks, or whose world size was not recorded.
[[nodiscard]] AbsentRanks absent_ranks(const Run& run);

}  // namespace rankscope::analyzer
