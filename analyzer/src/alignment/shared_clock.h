// Whether the ranks may all have read one clock, and how far from it they can have been (metrics.md 7.8).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "alignment/crossings.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::clocks {

/// The largest distance between any two clocks that the operations allow, in ns, at any time of the recording. Nothing
/// if an operation contradicts one shared clock, if the ends on two ranks lie farther apart than they scatter, or if
/// some clocks could be as far apart as any wall clocks.
[[nodiscard]] std::optional<std::int64_t> shared_clock_error_ns(std::span<const Crossing> crossings, std::size_t ranks,
                                                                TimeRange recorded);

}  // namespace rankscope::analyzer::clocks
