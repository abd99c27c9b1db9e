// The critical path as tables.
#pragma once

#include <cstddef>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

[[nodiscard]] std::vector<NotedTable> critical_path_tables(const Report& report, std::size_t most);

/// "compute", "communication", "copies", ...
[[nodiscard]] std::string_view words_of(PathClass kind);

}  // namespace rankscope::analyzer
