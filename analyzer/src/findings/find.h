// What is wrong, how bad it is, what to do, and what fixing it would save (metrics.md 20).
#pragma once

#include <span>

#include "rankscope/analyzer/report.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

/// The table of findings from the finished sections; `lost` are those of find_lost_ranks. Worst first; nothing below
/// minor. Shares of time are those of the ranks asked for. Unavailable only if there was nothing to judge.
[[nodiscard]] Section<std::vector<Finding>> judge_findings(const Run& run, const Report& report,
                                                           const ReportOptions& options, std::vector<Finding> lost,
                                                           std::span<const Rule> rules);

}  // namespace rankscope::analyzer
