// The section on the user's Python code: how it is found, its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/python_stacks/section.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

struct Report;

/// Of the ranks asked for, in their counted windows.
[[nodiscard]] Section<PythonStacksSection> find_python_stacks(const Run& run, const Section<StepsSection>& steps,
                                                              const ReportOptions& options);

/// Functions that a rank is in longer than the others, the largest difference first; words where there are none.
[[nodiscard]] std::vector<NotedTable> python_stacks_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json python_stacks_json(const PythonStacksSection& section);

}  // namespace rankscope::analyzer
