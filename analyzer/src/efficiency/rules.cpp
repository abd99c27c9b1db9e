#include <algorithm>
#include <array>

#include "efficiency/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "split/row_sums.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t fewest_steps = 5;  // as of slow ranks (metrics.md 9.1)

/// True if an earlier rule has a finding whose id begins so.
bool said(const std::vector<Finding>& findings, std::span<const std::string_view> ids) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.severity > FindingSeverity::info &&
           std::ranges::any_of(ids, [&](std::string_view id) { return finding.id.starts_with(id); });
  });
}

/// "stage 0 40.0 ms, stage 1 80.0 ms": the least and the most busy of several.
std::string spread_text(const EfficiencySection& section, std::int64_t steps) {
  const auto mean = [&](const EfficiencyGroup& group) {
    return static_cast<std::int64_t>(group.factors.mean_compute_ns() / static_cast<double>(steps));
  };
  const std::vector<EfficiencyGroup>& groups = section.classes.groups;
  const auto [least, most] = std::ranges::minmax_element(groups, {}, mean);
  return format("; {} ({}) computes {}, {} ({}) {}", least->name, ranks_text(least->ranks), duration_text(mean(*least)),
                most->name, ranks_text(most->ranks), duration_text(mean(*most)));
}

void judge_balance(const RuleContext& context, const EfficiencySection& section, std::vector<Finding>& findings) {
  constexpr std::array<std::string_view, 3> by_others{finding_family::straggler, finding_family::imbalance,
                                                      finding_id::rank_lost};
  const EfficiencyFactors& run = section.run;
  const FindingSeverity severity = imbalance_of(context);
  const auto steps = static_cast<std::int64_t>(section.steps.size());
  if (severity == FindingSeverity::info || said(findings, by_others)) return;
  const bool classes = section.classes.between.value && *section.classes.between.value < *section.classes.inside.value;
  Finding finding;
  finding.id = "efficiency.load_balance";
  finding.severity = severity;
  finding.title = format("the work is not shared evenly: load balance {}", percent_of(run.load_balance()));
  finding.evidence = format("rank {} computes {} per step; the mean of {} ranks is {}", run.most_computing.value,
                            duration_text(run.most_compute_ns / steps), run.ranks,
                            duration_text(run.compute_ns / (run.ranks * steps)));
  if (classes) finding.evidence += spread_text(section, steps);
  finding.advice = classes
                       ? "Even out the work of the stages: move layers, or give more work to stages that have less."
                       : "Even out the work of the ranks: their batch sizes, sequence lengths, and routing to experts.";
  finding.gain_ns_per_step = (run.most_compute_ns - run.compute_ns / run.ranks) / steps;
  findings.push_back(std::move(finding));
}

void judge_communication(const RuleContext& context, const EfficiencySection& section, std::vector<Finding>& findings) {
  constexpr std::array<std::string_view, 5> by_others{finding_id::exposed_communication, finding_id::exposed_copies,
                                                      finding_family::straggler, finding_family::efficiency,
                                                      finding_family::slow_path};
  const FindingSeverity severity = severity_of(1 - section.run.communication(), lost_factor_limits);
  if (severity == FindingSeverity::info || said(findings, by_others)) return;
  const Usual& usual = context.everybody;
  Finding finding;
  finding.id = "efficiency.communication";
  finding.severity = severity;
  finding.title =
      format("{} of the busy time goes into copies and communication", percent_of(1 - section.run.communication()));
  finding.evidence = format("per step and rank, {} of copies and {} of communication are not hidden by computation",
                            duration_text(usual.per_step(usual.total.memory_ns)),
                            duration_text(usual.per_step(usual.total.exposed_comm_ns)));
  finding.advice = "Hide copies and communication behind compute: use pinned memory, separate streams and prefetching.";
  ReplayedGain gain = replayed_gain(context.report.what_if, &WhatIfSection::without_traffic_ns);
  finding.gain_ns_per_step = gain.ns_per_step;
  finding.why_no_gain = std::move(gain.why_unknown);
  findings.push_back(std::move(finding));
}

/// Nothing alone is large enough for a finding, and together they are.
void judge_sum(const RuleContext& context, const EfficiencySection& section, std::vector<Finding>& findings) {
  constexpr std::array<std::string_view, 11> by_others{
      finding_id::exposed_communication, finding_id::exposed_copies, finding_family::straggler,
      finding_family::efficiency,        finding_family::slow_path,  finding_id::idle,
      finding_id::data_loading,          finding_family::imbalance,  finding_id::synchronizations,
      finding_id::allocations,           finding_id::blocking_copies};
  const EfficiencyFactors& run = section.run;
  const FindingSeverity severity = severity_of(1 - run.parallel(), lost_efficiency_limits);
  if (severity == FindingSeverity::info || said(findings, by_others)) return;
  const Usual& usual = context.everybody;
  Finding finding;
  finding.id = finding_id::efficiency;
  finding.severity = severity;
  finding.title = format("the ranks compute only {} of the time, for several reasons", percent_of(run.parallel()));
  finding.evidence = format("load balance {}, communication {}, orchestration {}", percent_of(run.load_balance()),
                            percent_of(run.communication()), percent_of(run.orchestration()));
  finding.advice =
      "No single cause stands out: start with the smallest factor and with the largest share of time other than "
      "compute (--only efficiency shows both).";
  finding.gain_ns_per_step = usual.per_step(usual.total.window_ns - usual.total.compute_ns);
  findings.push_back(std::move(finding));
}

}  // namespace

FindingSeverity imbalance_of(const RuleContext& context) {
  const Report& report = context.report;
  if (!report.efficiency) return FindingSeverity::info;
  const EfficiencySection& section = *report.efficiency;
  if (section.run.ranks < 2 || section.steps.size() < fewest_steps) return FindingSeverity::info;
  const double by_chance =
      report.stragglers && !context.everybody.on_accelerators ? report.stragglers->chance_slowdown : 1;
  if (section.run.load_balance() * by_chance > 1) return FindingSeverity::info;
  const FindingSeverity severity = severity_of(1 - section.run.load_balance(), lost_factor_limits);
  return section.run.ranks < ranks_for_critical ? capped(severity, FindingSeverity::major) : severity;  // C7
}

/// metrics.md 8 and 20. What idle time costs (orchestration) is said by the rules of its causes.
void judge_efficiency(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.efficiency) return;
  const EfficiencySection& section = *context.report.efficiency;
  if (section.run.ranks < 2 || section.steps.empty()) return;
  judge_balance(context, section, findings);
  judge_communication(context, section, findings);
  judge_sum(context, section, findings);
}

}  // namespace rankscope::analyzer
