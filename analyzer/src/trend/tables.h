// How steps went over the run, as lines that text and page share.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/left_out.h"

namespace rankscope::analyzer {

struct TrendLines {
  std::vector<std::string> lines;
  LeftOut left_out{};  ///< steps that stand out less
};

/// A line per change and per step that stands out, at most `most` of these; says so where there is none, and where
/// changes could not be looked for. Empty without steps.
[[nodiscard]] TrendLines trend_lines(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
