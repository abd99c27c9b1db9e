// How steps went over the run, as lines that text and page share.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// A line per change and per step that stands out, at most `top` of these; says so where there is none, and where
/// changes could not be looked for. Empty without steps.
[[nodiscard]] std::vector<std::string> trend_lines(const Report& report, std::size_t top);

}  // namespace rankscope::analyzer
