// Durations and sizes in words, the same everywhere in the report.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "rankscope/analyzer/words.h"
#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Three significant digits with the fitting unit: "812 ns", "12.3 µs", "1.02 s".
[[nodiscard]] std::string duration_text(std::int64_t ns);

/// "172 MB/s", from bytes per ns.
[[nodiscard]] std::string speed_text(double gbps);

/// Ranks from `first` to `last`, both included. A list of ranges takes little where a damaged file claims billions.
struct RankRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
[[nodiscard]] std::string ranks_text(std::span<const RankRange> ranges);

/// "0–33, 35, 36"; after 16 ranges "...". Ranks must be sorted.
[[nodiscard]] std::string rank_ranges(std::span<const RankId> ranks);
/// "rank 3", "ranks 0–33, 35".
[[nodiscard]] std::string ranks_text(std::span<const RankId> ranks);
/// "only 2 of 128 ranks were recorded", "only one rank was recorded".
[[nodiscard]] std::string only_recorded_text(std::int64_t recorded, std::int64_t of,
                                             std::uint64_t unreadable_files = 0);

}  // namespace rankscope::analyzer
