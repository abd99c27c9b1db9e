// The section on predicted: its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Ranks that are farthest off first; nothing where nothing was predicted.
[[nodiscard]] std::vector<NotedTable> predicted_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json predicted_json(const PredictedSection& section);

}  // namespace rankscope::analyzer
