// Rows for spans that overlap without nesting: viewers draw a row as a tree and drop or distort what is none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankscope/core/model/span.h"

namespace rankscope::analyzer {

/// The row of each span of a lane (sorted by begin, the longer first), counted from 0: the first in which it lies
/// inside or beside everything else. A lane that nests has one row.
[[nodiscard]] std::vector<std::uint32_t> nesting_rows(std::span<const Span> spans);

}  // namespace rankscope::analyzer
