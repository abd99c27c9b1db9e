// How fast data moved, in words and as tables.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/rank_matrix.h"

namespace rankscope::analyzer {

[[nodiscard]] Table bandwidth_table(const BandwidthSection& section, std::size_t most);
[[nodiscard]] Table traffic_table(const BandwidthSection& section, std::size_t most);
[[nodiscard]] Table margin_table(const BandwidthSection& section, std::size_t most);
[[nodiscard]] std::vector<RankCell> traffic_cells(const BandwidthSection& section);
/// One sentence for each slow path.
[[nodiscard]] std::vector<std::string> slow_path_notes(const BandwidthSection& section);
/// How to read the table of speeds, and what is left out of it.
[[nodiscard]] std::vector<std::string> bandwidth_notes(const BandwidthSection& section);

void add_bandwidth(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
