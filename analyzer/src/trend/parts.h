// The section on steps over time: its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/trend/section.h"
#include "render/left_out.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

struct TrendLines {
  std::vector<std::string> lines;
  LeftOut left_out{};  ///< steps that stand out less
};

/// A line per change and per step that stands out, at most `most` of these; says so where there is none, and where
/// changes could not be looked for. Empty without steps.
[[nodiscard]] TrendLines trend_lines(const Report& report, std::size_t most);
[[nodiscard]] nlohmann::ordered_json trend_json(const TrendSection& section);
void add_trend(Page& page, const Report& report, const ReportOptions& options);

void judge_step_change(const RuleContext& context, std::vector<Finding>& findings);
void judge_odd_steps(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_trend(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
