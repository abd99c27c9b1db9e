// The section on the critical path: its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"
#include "render/source.h"

namespace rankscope::analyzer {

[[nodiscard]] std::vector<NotedTable> critical_path_tables(const Report& report, std::size_t most);

/// "compute", "communication", "copies", ...
[[nodiscard]] std::string_view words_of(PathClass kind);
[[nodiscard]] nlohmann::ordered_json critical_path_json(const CriticalPathSection& path, const ReportOptions& options);

namespace html {
void write_critical_path(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
