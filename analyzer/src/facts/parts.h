// The section on what the recording says about itself: its tables, JSON and picture.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/source.h"

namespace rankscope::analyzer {

[[nodiscard]] Table facts_table(const std::vector<RankFacts>& ranks, std::size_t limit);
void add_rank_facts(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json facts_json(const RankFacts& facts);
/// The object `run` of the report.
[[nodiscard]] nlohmann::ordered_json run_json(const Report& report);

namespace html {
void write_ranks(Writer& page, const Source& source);
void write_about(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
