// The section on operations between ranks: its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

/// With each of its operations where the options ask for instances.
[[nodiscard]] nlohmann::ordered_json collectives_json(const CollectivesSection& section, const Run& run,
                                                      const ReportOptions& options);
[[nodiscard]] Table collective_table(const std::vector<GroupRow>& groups, std::size_t limit);
[[nodiscard]] std::string matching_note(const CollectivesSection& section);
/// A sentence for each reason why operations found no partner; the rest counted.
[[nodiscard]] std::vector<std::string> unmatched_notes(const CollectivesSection& section);
/// Why some times and bandwidths are missing, each reason once; may be empty.
[[nodiscard]] std::string unknown_note(const std::vector<GroupRow>& groups);
void add_collectives(Page& page, const Report& report, const ReportOptions& options);

void judge_desyncs(const RuleContext& context, std::vector<Finding>& findings);
void judge_exposed_communication(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_collectives(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
