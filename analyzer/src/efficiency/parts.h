// The section on efficiency: how it is found, its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/efficiency/section.h"
#include "rankscope/analyzer/efficiency/words.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// Of all ranks, whichever were asked for, over the steps asked for.
[[nodiscard]] Section<EfficiencySection> find_efficiency(const Run& run, const Section<StepsSection>& steps,
                                                         const Section<std::vector<RankRow>>& rows);

[[nodiscard]] Table tree_table(const EfficiencySection& section);
/// Parts that have time: milliseconds per step and rank, and shares that add up to 100 %.
[[nodiscard]] Table ledger_table(const EfficiencySection& section);
/// One row per group of ranks; empty where there is one group only.
[[nodiscard]] Table grouping_table(const Grouping& grouping, std::string_view what);
/// What must be said beside the numbers.
[[nodiscard]] std::vector<std::string> efficiency_notes(const Report& report);

void add_efficiency(Page& page, const Report& report, const ReportOptions& options);
[[nodiscard]] nlohmann::ordered_json efficiency_json(const EfficiencySection& section);

/// How bad it is that some ranks compute more than others; info where it is not, where too few ranks or steps show it,
/// or where too few CPUs explain it (metrics.md 9.10).
[[nodiscard]] FindingSeverity imbalance_of(const RuleContext& context);
void judge_efficiency(const RuleContext& context, std::vector<Finding>& findings);
void judge_exposed_communication(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_efficiency(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
