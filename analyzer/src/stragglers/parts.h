// The section on slow ranks: its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

[[nodiscard]] nlohmann::ordered_json straggler_json(const Straggler& row);
/// What the list of stragglers rests on; `[]` means more or less depending on it.
[[nodiscard]] nlohmann::ordered_json straggler_basis_json(const StragglersSection& section);
[[nodiscard]] Table straggler_table(const StragglersSection& section);
/// What the list of slow ranks rests on.
[[nodiscard]] std::string basis_of(const StragglersSection& section);
/// "Rank 3, which is not shown, is slow since step 9 (1.50 x): it computes slower than its peers."; empty if no slow
/// rank is left out.
[[nodiscard]] std::string left_out_text(const AskedFor& part);
void add_stragglers(Page& page, const Report& report, const ReportOptions& options);

void judge_stragglers(const RuleContext& context, std::vector<Finding>& findings);
void judge_rotation(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_slow_ranks(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
