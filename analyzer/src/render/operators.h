// Operators and annotations, for people.
#pragma once

#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Nothing where neither was recorded.
[[nodiscard]] std::vector<NotedTable> operator_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
