// Slow ranks in words that findings, tables and the verdict share.
#pragma once

#include <string>

#include "rankscope/analyzer/findings/section.h"

namespace rankscope::analyzer {

/// "since step 12", "in steps 5 to 9", "now and then"; "" = all the time.
[[nodiscard]] std::string when_text(const Straggler& row);

}  // namespace rankscope::analyzer
