#include "findings/parts.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rules/severity.h"
#include "split/row_sums.h"

namespace rankscope::analyzer {
namespace {

/// Of findings of one severity: whatever else is wrong may follow from a lost rank; shares of all time name no cause;
/// what was found in the recordings comes before those that are missing.
int place_of(const Finding& finding) {
  if (finding.id == finding_id::rank_lost) return 0;
  if (is_about_one_rank(finding)) return 1;
  if (!finding.held_at_minor.empty()) return 2;
  return finding.id == finding_id::ranks_missing ? 4 : 3;
}

bool is_before(const Finding& a, const Finding& b) {
  if (a.severity != b.severity) return a.severity > b.severity;
  if (place_of(a) != place_of(b)) return place_of(a) < place_of(b);
  return a.gain_ns_per_step > b.gain_ns_per_step;
}

/// Where the file is cut, what ran may be missing; a whole recording holds start-up and shut-down, too: metrics.md 20
/// caps what rests on such data. Empty: it need not be.
std::string_view why_not_judged(const Run& run, const Report& report, const Usual& everybody) {
  if (everybody.steps == 0) return report.steps ? "without complete steps" : "without steps";
  return run.quality().of(Counter::truncated_input) > 0 ? "in a recording that is cut short" : "";
}

}  // namespace

Section<std::vector<Finding>> judge_findings(const Run& run, const Report& report, const ReportOptions& options,
                                             std::vector<Finding> lost, std::span<const Rule> rules) {
  std::vector<RankId> stragglers;
  if (report.stragglers)
    for (const Straggler& row : report.stragglers->rows) stragglers.push_back(row.rank);
  const Usual everybody = sum_ranks(report.rank_rows, options);
  const Usual all_but_stragglers = sum_ranks(report.rank_rows, options, stragglers);
  const RuleContext context{
      run, report, options, everybody, all_but_stragglers, std::move(stragglers), std::move(lost)};
  std::vector<Finding> findings;
  const std::string_view why_not = why_not_judged(run, report, context.everybody);
  for (const Rule& rule : rules) {
    const std::size_t before = findings.size();
    if (rule.judge != nullptr) rule.judge(context, findings);
    if (why_not.empty() || !rule.needs_whole_input) continue;
    for (std::size_t i = before; i < findings.size(); ++i) {
      if (findings[i].severity > FindingSeverity::minor) findings[i].held_at_minor = why_not;
      findings[i].severity = capped(findings[i].severity, FindingSeverity::minor);
    }
  }
  if (findings.empty() && !report.rank_rows && !report.collectives)
    return unavailable("it is not known how the ranks spend their time");
  std::erase_if(findings, [](const Finding& finding) { return finding.severity == FindingSeverity::info; });
  std::ranges::stable_sort(findings, is_before);
  return findings;
}

}  // namespace rankscope::analyzer
