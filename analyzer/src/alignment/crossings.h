// Which rank cannot have left an operation before which other rank had entered it (metrics.md 7.8).
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::clocks {

/// A start or an end of one rank, as its clock showed it.
struct ShownTime {
  std::uint32_t rank_row = 0;  ///< in Run::ranks()
  std::int64_t ns = 0;
};

/// No exit happened before all entries had: what they show otherwise is a difference of clocks.
struct Crossing {
  std::vector<ShownTime> entries;  ///< starts that others wait for
  std::vector<ShownTime> exits;    ///< ends of the ranks that wait
  bool ends_together = false;      ///< all ranks wait for all: the exits are close to one another

  [[nodiscard]] std::int64_t last_entry_ns() const;
};

/// Of all matched operations that have ended, except collectives that were found by their ends; by last entry. A send
/// does not wait for its receiver: transports buffer.
[[nodiscard]] std::vector<Crossing> crossings_of(const Run& run);

}  // namespace rankscope::analyzer::clocks
