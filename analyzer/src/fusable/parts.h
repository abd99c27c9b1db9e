// The section on fusable: its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Nothing where there are no sequences.
[[nodiscard]] std::vector<NotedTable> fusable_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json fusable_json(const FusableSection& section, const ReportOptions& options);

}  // namespace rankscope::analyzer
