// The section on operators: how it is found, its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/operators/section.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// Over the ranks asked for, in the counted windows.
[[nodiscard]] Section<OperatorsSection> tabulate_operators(const Run& run, const Section<StepsSection>& steps,
                                                           const ReportOptions& options);

/// Nothing where neither was recorded.
[[nodiscard]] std::vector<NotedTable> operator_tables(const Report& report, std::size_t most);

/// A printable name, made short where all of its kind begin alike.
[[nodiscard]] std::string operator_words(std::string_view name);
[[nodiscard]] nlohmann::ordered_json operators_json(const OperatorsSection& section, const ReportOptions& options);

}  // namespace rankscope::analyzer
