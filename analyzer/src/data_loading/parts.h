// The section on data loading: its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

/// Ranks that wait longest first; nothing where nothing was recorded.
[[nodiscard]] std::vector<NotedTable> data_loading_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json data_loading_json(const DataLoadingSection& section);

void judge_data_loading(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
