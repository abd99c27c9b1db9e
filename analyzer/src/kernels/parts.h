// The section on kernels: how it is found, its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// Over the ranks asked for that have an accelerator, in the counted windows.
[[nodiscard]] Section<KernelsSection> tabulate_kernels(const Run& run, const Section<StepsSection>& steps,
                                                       const ReportOptions& options);

/// Nothing where no kernel was recorded.
[[nodiscard]] std::vector<NotedTable> kernel_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json kernels_json(const KernelsSection& section, const ReportOptions& options);

void judge_tensor_cores(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
