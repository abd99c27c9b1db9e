// The section on overlap: its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

[[nodiscard]] std::vector<NotedTable> overlap_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json overlap_json(const OverlapSection& section);

void judge_contention(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
