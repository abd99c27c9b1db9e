// The section on overlap: how it is found, its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "collectives/find.h"
#include "rankscope/analyzer/overlap/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

/// The row of waits outside of all recorded operations.
inline constexpr std::string_view host_waits = "(host waits)";

/// Of the ranks asked for, in their counted windows. `rows` are those of the time split: per rank the sums agree to the
/// nanosecond.
[[nodiscard]] Section<OverlapSection> find_overlap(const Run& run, const Section<StepsSection>& steps,
                                                   const Section<std::vector<RankRow>>& rows, const Matching& matching,
                                                   const ReportOptions& options);

[[nodiscard]] std::vector<NotedTable> overlap_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json overlap_json(const OverlapSection& section);

void judge_contention(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
