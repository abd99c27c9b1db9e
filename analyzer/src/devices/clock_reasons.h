// NVML's bits for why clocks are lower than they could be.
#pragma once

#include <cstdint>
#include <span>

#include "rankscope/analyzer/split/device_row.h"

namespace rankscope::analyzer {

/// The reasons of one sample; none for a GPU at its full clock.
[[nodiscard]] std::vector<ClockReason> clock_reasons(std::uint64_t bits);

/// Shares of samples, which are not empty.
[[nodiscard]] Throttling throttling_of(std::span<const double> samples);

}  // namespace rankscope::analyzer
