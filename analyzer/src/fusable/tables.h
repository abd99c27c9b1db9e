// Sequences worth fusing as a table.
#pragma once

#include <cstddef>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Nothing where there are no sequences.
[[nodiscard]] std::vector<NotedTable> fusable_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
