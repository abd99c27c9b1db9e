// The launches of a report, for people.
#pragma once

#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Of each rank one row, and of its streams where it is the only one; `most` rows.
[[nodiscard]] std::vector<NotedTable> launch_tables(const Report& report, std::size_t most);

}  // namespace rankscope::analyzer
