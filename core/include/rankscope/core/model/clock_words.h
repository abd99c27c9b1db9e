#pragma once

#include <string>

#include "rankscope/core/model/run_parts.h"

namespace rankscope {

/// How the clocks of the ranks were brought together: "same host", "wall clocks", "aligned by the ends of shared
/// operations", "assumed to be shared", "not synchronized"; of another method its name.
[[nodiscard]] std::string clock_method_words(const ClockInfo& clock);

/// The same with the error, for one line: "clocks: aligned by the ends of shared operations, ±31.200 µs"
[[nodiscard]] std::string clock_words(const ClockInfo& clock);

}  // namespace rankscope
