// The section on kernels: its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

/// Nothing where no kernel was recorded.
[[nodiscard]] std::vector<NotedTable> kernel_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json kernels_json(const KernelsSection& section, const ReportOptions& options);

void judge_tensor_cores(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
