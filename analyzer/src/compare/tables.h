// The tables of a comparison, for text and page alike.
#pragma once

#include <vector>

#include "rankscope/analyzer/compare/render_comparison.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

/// Where the time went, by part and by rank; nothing without steps.
[[nodiscard]] std::vector<NotedTable> split_tables(const ComparisonView& view);
/// Kernels, operators and operations of groups that changed, are new or gone.
[[nodiscard]] std::vector<NotedTable> key_tables(const ComparisonView& view);
/// Findings that only one of the runs has; nothing where there are none.
[[nodiscard]] std::vector<NotedTable> finding_tables(const ComparisonView& view);
/// Peaks of memory in both; nothing where it was not recorded in both.
[[nodiscard]] std::vector<NotedTable> memory_tables(const ComparisonView& view);
/// What the runs state otherwise than each other; nothing if they state the same.
[[nodiscard]] std::vector<NotedTable> difference_tables(const ComparisonView& view);

}  // namespace rankscope::analyzer
