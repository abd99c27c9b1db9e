// What alignment says about the clocks of a run, for the rule of what may be claimed (metrics.md 7.4, 7.5).
#pragma once

#include <cstdint>
#include <vector>

namespace rankscope::analyzer {

/// Clocks with the same `reference` lie on one time axis.
struct ClockStanding {
  std::uint32_t reference = 0;
  std::int64_t error_ns = 0;  ///< against the reference
};

struct ClockModel {
  std::vector<std::uint32_t> of_rank;  ///< clock of each row of Run::ranks(); empty: what the recording says holds
  std::vector<ClockStanding> clocks;
  std::int64_t same_clock_error_ns = 0;
  std::int64_t allowance_ns = 0;  ///< added once between two clocks: systematic order of exits
};

}  // namespace rankscope::analyzer
