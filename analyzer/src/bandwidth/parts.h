// The section on bandwidth: its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/rank_matrix.h"
#include "render/source.h"
#include "rules/rule.h"

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
[[nodiscard]] nlohmann::ordered_json bandwidth_json(const BandwidthSection& section);

void judge_slow_paths(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_bandwidth(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
