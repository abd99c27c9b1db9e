// The efficiency of the job in words and as a table.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// One factor of the tree, its value between 0 and 1, and what it says.
struct TreeLine {
  std::string_view id;  ///< "parallel", "load_balance", ...
  std::string_view name;
  std::size_t depth = 0;  ///< 0: the product
  double value = 0;
  std::string meaning;
};
/// Without what is not known.
[[nodiscard]] std::vector<TreeLine> tree_lines(const EfficiencySection& section);

[[nodiscard]] Table tree_table(const EfficiencySection& section);
[[nodiscard]] std::string_view words_of(LedgerPart part);
/// Parts that have time: milliseconds per step and rank, and shares that add up to 100 %.
[[nodiscard]] Table ledger_table(const EfficiencySection& section);
/// One row per group of ranks; empty where there is one group only.
[[nodiscard]] Table grouping_table(const Grouping& grouping, std::string_view what);
/// What must be said beside the numbers.
[[nodiscard]] std::vector<std::string> efficiency_notes(const Report& report);

void add_efficiency(Page& page, const Report& report, const ReportOptions& options);

}  // namespace rankscope::analyzer
