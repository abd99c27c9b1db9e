// What made steps longer, in words that findings, text and page share.
#pragma once

#include <span>
#include <string>

#include "rankscope/analyzer/trend/section.h"

namespace rankscope::analyzer {

/// "ranks 1, 3: compute, own time 100 ms to 150 ms"; without ranks that it is the communication.
[[nodiscard]] std::string grown_text(std::span<const GrownPart> ranks);
/// "since step 60 steps take 1.40 times as long, 100 ms to 140 ms; rank 1: ..."
[[nodiscard]] std::string change_text(const StepChange& change);
/// "step 17 took 145 ms, 45.0 ms more than usual; rank 2: ..."
[[nodiscard]] std::string odd_text(const OddStep& odd);

}  // namespace rankscope::analyzer
