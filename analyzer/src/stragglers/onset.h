// From which step on a rank is slow to the end (metrics.md 9.5).
#pragma once

#include <optional>

#include "stragglers/own_time_windows.h"

namespace rankscope::analyzer {

/// The steps from which on the rank needs more than its peers by half of what `ratio` says, up to the last one; nothing
/// where slow and usual steps are mixed.
[[nodiscard]] std::optional<StepBlock> slow_end(const OwnTimes& times, std::size_t peer, double ratio);

}  // namespace rankscope::analyzer
