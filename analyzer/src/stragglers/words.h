// Slow ranks in words that findings, tables and the verdict share.
#pragma once

#include <string>
#include <string_view>

#include "rankscope/analyzer/stragglers/section.h"

namespace rankscope::analyzer {

/// "since step 12", "in steps 5 to 9", "now and then"; "" = all the time.
[[nodiscard]] std::string when_text(const Straggler& row);

/// What a kind of straggler does, after "rank 3": "computes slower than its peers".
[[nodiscard]] std::string_view behaviour_of(StragglerKind kind);

}  // namespace rankscope::analyzer
