// The section on findings: how it is found, its tables, JSON and picture.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>

#include "rankscope/analyzer/report.h"
#include "render/page.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

/// The table of findings from the finished sections; `lost` are those of find_lost_ranks. Worst first; nothing below
/// minor. Shares of time are those of the ranks asked for. Unavailable only if there was nothing to judge.
[[nodiscard]] Section<std::vector<Finding>> judge_findings(const Run& run, const Report& report,
                                                           const ReportOptions& options, std::vector<Finding> lost,
                                                           std::span<const Rule> rules);

[[nodiscard]] Tone tone_of(FindingSeverity severity);
void add_findings(Page& page, const Report& report, const ReportOptions& options);
/// The worst ones with evidence and advice as far as `most` lines allow, the titles of the others in one line.
void add_brief_findings(Page& page, const Report& report, const ReportOptions& options, std::size_t most);
[[nodiscard]] nlohmann::ordered_json finding_json(const Finding& row);

namespace html {
void write_findings(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
