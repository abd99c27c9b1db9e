// Communication beside compute as tables.
#pragma once

#include <cstddef>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

[[nodiscard]] std::vector<NotedTable> overlap_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
