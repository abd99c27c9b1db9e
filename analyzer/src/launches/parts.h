// The section on launches: its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Of each rank one row, and of its streams where it is the only one; `most` rows.
[[nodiscard]] std::vector<NotedTable> launch_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json launch_json(const LaunchRow& row);

}  // namespace rankscope::analyzer
