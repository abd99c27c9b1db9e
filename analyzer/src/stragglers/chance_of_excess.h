// Whether chance explains that a rank needs longer than its peers in a handful of steps (metrics.md 9.4).
#pragma once

#include "split/peers.h"

namespace rankscope::analyzer {

/// How likely ranks that differ by chance only, in each step anew, let this one stand out by so much: Student's t of
/// its mean excess over the others, whose scatter and the unsteadiness of that excess are the measure. 1 for one step.
[[nodiscard]] double chance_of_excess(const OwnTimes& times, std::size_t peer);

}  // namespace rankscope::analyzer
