// The section on copies: how it is found, its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/copies/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// Over the ranks asked for that have an accelerator, in the counted windows. `all_steps` are those of the recording,
/// of which the first one allocates what later ones use again; without steps, that is what comes before device work.
[[nodiscard]] Section<CopiesSection> tabulate_copies(const Run& run, const Section<StepsSection>& steps,
                                                     const Section<StepsSection>& all_steps,
                                                     const ReportOptions& options);

/// Nothing where no rank has an accelerator, or nothing of the kind was recorded.
[[nodiscard]] std::vector<NotedTable> copy_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json copies_json(const CopiesSection& section, const ReportOptions& options);

void judge_exposed_copies(const RuleContext& context, std::vector<Finding>& findings);
void judge_synchronizations(const RuleContext& context, std::vector<Finding>& findings);
void judge_blocking_copies(const RuleContext& context, std::vector<Finding>& findings);
void judge_allocations(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
