// Waiting for data and the loader's workers, as a table and as JSON (metrics.md 2.8).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Ranks that wait longest first; nothing where nothing was recorded.
[[nodiscard]] std::vector<NotedTable> data_loading_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json data_loading_json(const DataLoadingSection& section);

}  // namespace rankscope::analyzer
