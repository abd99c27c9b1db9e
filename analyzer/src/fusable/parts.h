// The section on fusable: how it is found, its tables and JSON, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "rankscope/analyzer/fusable/section.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct Report;

/// Two and more pointwise kernels (by name) in a row on one stream, not farther than 100 µs from each other, that began
/// in the counted windows of the ranks asked for.
[[nodiscard]] Section<FusableSection> find_fusable(const Run& run, const Section<StepsSection>& steps,
                                                   const ReportOptions& options);

/// Nothing where there are no sequences.
[[nodiscard]] std::vector<NotedTable> fusable_tables(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json fusable_json(const FusableSection& section, const ReportOptions& options);

void judge_fusable(const RuleContext& context, std::vector<Finding>& findings);

}  // namespace rankscope::analyzer
