// The section on operators: its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Nothing where neither was recorded.
[[nodiscard]] std::vector<NotedTable> operator_tables(const Report& report, std::size_t most);

/// A printable name, made short where all of its kind begin alike.
[[nodiscard]] std::string operator_words(std::string_view name);
[[nodiscard]] nlohmann::ordered_json operators_json(const OperatorsSection& section, const ReportOptions& options);

}  // namespace rankscope::analyzer
