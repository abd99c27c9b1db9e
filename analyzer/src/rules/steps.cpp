#include "rules/rules.h"

#include <algorithm>
#include <cstdlib>

#include "analyses/severity.h"
#include "analyses/steps.h"
#include "analyses/trend_words.h"
#include "rankscope/core/format.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

bool told_by_straggler(const Report& report, const StepChange& change) {
  constexpr std::int64_t near = 5;  // steps; two methods find one begin
  return report.stragglers && std::ranges::any_of(report.stragglers->rows, [&](const Straggler& row) {
           return row.since_step && std::abs(*row.since_step - change.step) <= near;
         });
}

}  // namespace

/// metrics.md 9.5 and 20. A slow rank that became slow at the same step tells it already.
void judge_step_change(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.trend || report.trend->changes.empty()) return;
  const StepChange& change = report.trend->changes.back();
  const FindingSeverity severity = severity_of(change.ratio() - 1, change_limits);
  if (severity == FindingSeverity::info || told_by_straggler(report, change)) return;
  const std::vector<std::int64_t> counted = counted_steps(*report.steps);
  const auto after = counted.end() - std::ranges::lower_bound(counted, change.step);
  Finding finding;
  finding.id = "step_time.change";
  finding.severity = severity;
  finding.step = change.step;
  finding.title = format("since step {} steps take {:.2f} times as long", change.step, change.ratio());
  finding.evidence = format("{} before, {} since then; {}", duration_text(change.before_ns),
                            duration_text(change.after_ns), grown_text(change.ranks));
  finding.advice =
      "Look at what begins at that step: evaluation, checkpoints, another phase of the data, falling clocks, other "
      "jobs on the hosts.";
  finding.gain_ns_per_step = (change.after_ns - change.before_ns) * after / static_cast<std::int64_t>(counted.size());
  findings.push_back(std::move(finding));
}

/// What the odd steps together cost. A rank that stalls tells its own.
void judge_odd_steps(const RuleContext& context, std::vector<Finding>& findings) {
  const Report& report = context.report;
  if (!report.trend || report.trend->odd_steps.empty()) return;
  if (report.stragglers && !report.stragglers->rows.empty()) return;
  const std::vector<OddStep>& odd = report.trend->odd_steps;
  std::int64_t excess = 0;
  for (const OddStep& step : odd) excess += step.excess_ns;
  Finding finding;
  finding.id = "step_time.odd";
  finding.gain_ns_per_step = excess / static_cast<std::int64_t>(counted_steps(*report.steps).size());
  finding.severity = severity_of(report.steps->share_of_step(finding.gain_ns_per_step), gain_limits);
  if (finding.severity == FindingSeverity::info) return;
  const OddStep& worst = *std::ranges::max_element(odd, {}, &OddStep::excess_ns);
  finding.step = worst.step;
  finding.title =
      format("{} much longer than those around {}",
             odd.size() == 1 ? "one step takes" : format("{} steps take", odd.size()), odd.size() == 1 ? "it" : "them");
  finding.evidence = format("together {} lost; the longest: {}", duration_text(excess), odd_text(worst));
  finding.advice =
      "Look at these steps in the timeline: checkpoints, evaluation, garbage collection, a stalled loader or link.";
  findings.push_back(std::move(finding));
}

}  // namespace rankscope::analyzer
