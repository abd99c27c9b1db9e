// The section on blame: its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/rank_matrix.h"
#include "render/source.h"

namespace rankscope::analyzer {

/// "compute", "the host", ...
[[nodiscard]] std::string_view words_of(DelayPart part);
/// Waits below this share of the ranks' time are not worth a table in the text.
inline constexpr double little_waiting = 0.005;
[[nodiscard]] double waiting_share(const BlameSection& section);

[[nodiscard]] Table blame_table(const BlameSection& section, std::size_t most);
[[nodiscard]] Table blame_group_table(const BlameSection& section, std::size_t most);
[[nodiscard]] std::vector<RankCell> waiting_cells(const BlameSection& section);
[[nodiscard]] std::vector<std::string> blame_notes(const BlameSection& section);
/// "of 3.30 s that ranks waited ..."
[[nodiscard]] std::string blame_explanation(const BlameSection& section);

/// What is said where hardly any waiting is known.
[[nodiscard]] std::string little_waiting_text(const Report& report);

void add_blame(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json blame_json(const BlameSection& section);

namespace html {
void write_blame(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
