// Kernels and what ran together, for people.
#pragma once

#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Nothing where no kernel was recorded.
[[nodiscard]] std::vector<NotedTable> kernel_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
