// The section on the critical path: how it is found, its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/critical_path/section.h"
#include "rankscope/analyzer/section.h"
#include "render/noted_table.h"
#include "render/source.h"
#include "replay/graph.h"

namespace rankscope::analyzer::replay {

/// `slack`: of all nodes, as slack_of() tells.
[[nodiscard]] CriticalPathSection critical_path(const Graph& graph, std::span<const std::int64_t> slack);

// How much later work could end without making anything longer (metrics.md 10.4, 11.5).

/// By how many ns each node could end later without the end of the last step moving; by row of Graph::nodes. Times are
/// those of the replay as measured.
[[nodiscard]] std::vector<std::int64_t> slack_of(const Graph& graph);

/// For each operation whether all of its members that the graph holds could end later by 1 % of their step; false for
/// one that the graph does not hold.
[[nodiscard]] std::vector<bool> operations_with_slack(const Graph& graph, std::span<const std::int64_t> slack,
                                                      std::span<const Operation> operations);

}  // namespace rankscope::analyzer::replay

namespace rankscope::analyzer {

struct Report;

[[nodiscard]] std::vector<NotedTable> critical_path_tables(const Report& report, std::size_t most);

/// "compute", "communication", "copies", ...
[[nodiscard]] std::string_view words_of(PathClass kind);
[[nodiscard]] nlohmann::ordered_json critical_path_json(const CriticalPathSection& path, const ReportOptions& options);

namespace html {
void write_critical_path(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
