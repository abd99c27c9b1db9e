// What a section of the page is made of.
#pragma once

#include <algorithm>
#include <cstddef>

#include "rankscope/analyzer/options.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

struct Report;

struct Source {
  const Report& report;
  const Run& run;
  const ReportOptions& options;
};

namespace html {

class Writer;

/// Ranks that a page shows; of more only those farthest from the others.
inline constexpr std::size_t most_ranks_drawn = 32;
/// Rows of a table that is cut: a page has room for more than a terminal.
[[nodiscard]] inline std::size_t most_rows(const ReportOptions& options) {
  return std::max<std::size_t>(25, options.top);
}

}  // namespace html
}  // namespace rankscope::analyzer
