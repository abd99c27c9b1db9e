// The efficiency of the job in words and as a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/words.h"
#include "render/page.h"

namespace rankscope::analyzer {

[[nodiscard]] Table tree_table(const EfficiencySection& section);
/// Parts that have time: milliseconds per step and rank, and shares that add up to 100 %.
[[nodiscard]] Table ledger_table(const EfficiencySection& section);
/// One row per group of ranks; empty where there is one group only.
[[nodiscard]] Table grouping_table(const Grouping& grouping, std::string_view what);
/// What must be said beside the numbers.
[[nodiscard]] std::vector<std::string> efficiency_notes(const Report& report);

void add_efficiency(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
