#pragma once

#include <string>

#include "rankscope/core/model/run_parts.h"

namespace rankscope {

/// How the clocks of the ranks were brought together, for one line: "clocks aligned by the ends of shared operations,
/// ±31.200 µs", "one clock (same host), ±1.000 µs", "wall clocks, ±1.000 ms", "no common clock".
[[nodiscard]] std::string clock_words(const ClockInfo& clock);

}  // namespace rankscope
