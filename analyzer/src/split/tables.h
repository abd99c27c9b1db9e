// The tables of a report.
#pragma once

#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"

namespace rankscope::analyzer {

/// "Steps from step spans; 20 complete, 0 partial, 1 warm-up left out." (metrics.md 1)
[[nodiscard]] std::string steps_source(const StepsSection& steps);

void add_rank_facts(Page& page, const Report& report, const ReportOptions& options);
void add_rank_tables(Page& page, const Report& report, const ReportOptions& options);
void add_collectives(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] Table straggler_table(const StragglersSection& section);

using RankRows = std::vector<const RankRow*>;
/// All ranks, or of many the slow ones and those whose own time is farthest from the median, in their order.
[[nodiscard]] RankRows rows_to_show(const Report& report, std::size_t limit);
/// Milliseconds per step, and shares of them.
[[nodiscard]] Table share_table(const RankRows& rows);
/// Milliseconds per step: communication by use, idle time by cause.
[[nodiscard]] Table detail_table(const RankRows& rows);
[[nodiscard]] Table facts_table(const std::vector<RankFacts>& ranks, std::size_t limit);
[[nodiscard]] Table collective_table(const std::vector<GroupRow>& groups, std::size_t limit);
[[nodiscard]] std::string matching_note(const CollectivesSection& section);
/// A sentence for each reason why operations found no partner; the rest counted.
[[nodiscard]] std::vector<std::string> unmatched_notes(const CollectivesSection& section);
/// Why some times and bandwidths are missing, each reason once; may be empty.
[[nodiscard]] std::string unknown_note(const std::vector<GroupRow>& groups);

}  // namespace rankscope::analyzer
