#include "rankscope/analyzer/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/bootstrap.h"
#include "compare/findings.h"
#include "compare/key_changes.h"
#include "compare/likeness.h"
#include "compare/split_means.h"
#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"

namespace rankscope::analyzer {
namespace {

std::string why_no_steps(const RunDigest& run) {
  if (!run.report.steps) return run.report.steps.error().why;
  return run.step_walls_ns.empty() ? "no step is complete" : "";
}

ComparedRun facts_of(const RunDigest& run) {
  const Report& report = run.report;
  ComparedRun facts{.name = run.name,
                    .source = report.source,
                    .ranks = static_cast<std::int64_t>(report.ranks.size()),
                    .world_size = report.world_size,
                    .counted_steps = static_cast<std::int64_t>(run.step_walls_ns.size()),
                    .median_ns = std::nullopt,
                    .why_no_steps = why_no_steps(run),
                    .losses = {}};
  if (!run.step_walls_ns.empty()) facts.median_ns = median(run.step_walls_ns);
  for (const QualityRow& row : report.data_quality) {
    const CounterInfo& info = info_of(row.counter);
    if (info.severity != Severity::info) facts.losses.push_back(format("{}: {}", info.name, row.value));
  }
  return facts;
}

/// Why the step times of the two cannot be compared; empty if they can.
std::string why_not(const ComparedRun& a, const ComparedRun& b) {
  for (const ComparedRun* run : {&a, &b}) {
    const std::string& name = run->name.label;
    if (!run->median_ns) return format("{} has no steps that count ({})", name, run->why_no_steps);
    if (*run->median_ns <= 0) return format("half of the steps of {} take no time at all", name);
    if (run->counted_steps < static_cast<std::int64_t>(least_steps))
      return format("{} has {}, and {} are needed to separate a change from chance", name,
                    counted(run->counted_steps, "counted step"), least_steps);
  }
  return {};
}

/// metrics.md 17.1.
StepComparison compare_steps(const RunDigest& run_a, const RunDigest& run_b, const ComparedRun& a,
                             const ComparedRun& b) {
  StepComparison steps;
  steps.why = why_not(a, b);
  if (a.median_ns.value_or(0) > 0 && b.median_ns)
    steps.change = static_cast<double>(*b.median_ns) / static_cast<double>(*a.median_ns) - 1;
  if (!steps.why.empty()) return steps;
  const MedianChange found = change_of_medians(run_a.step_walls_ns, run_b.step_walls_ns);
  steps.low = found.low;
  steps.high = found.high;
  const bool changed = (found.low > 0 || found.high < 0) && std::abs(found.change) >= least_change;
  steps.verdict = StepVerdict::unchanged;
  if (!changed) return steps;
  steps.verdict = found.change > 0 ? StepVerdict::slower : StepVerdict::faster;
  steps.severity = severity_of(std::abs(found.change), two_runs_limits);
  return steps;
}

struct Computation {
  double useful_ns = 0;  // of all ranks, per step
  double parallel = 0;   // 8.1
};

Computation computation_of(const RunDigest& run) {
  std::int64_t useful = 0;
  std::int64_t longest = 0;
  for (const RankRow& row : *run.report.rank_rows) {
    useful += row.total.compute_ns;
    longest = std::max(longest, row.total.window_ns);
  }
  const auto steps = static_cast<double>(run.step_walls_ns.size());
  const auto ranks = static_cast<double>(run.report.rank_rows->size());
  return {static_cast<double>(useful) / steps,
          longest > 0 ? static_cast<double>(useful) / ranks / static_cast<double>(longest) : 0};
}

/// metrics.md 17.2, runs of different size.
Section<RankScaling> scaling_of(const RunDigest& a, const RunDigest& b) {
  for (const RunDigest* run : {&a, &b}) {
    const std::string& name = run->name.label;
    if (run->step_walls_ns.empty()) return unavailable(format("{} has no steps that count", name));
    if (!run->report.rank_rows) return unavailable(format("{}: {}", name, run->report.rank_rows.error().why));
    if (static_cast<std::int64_t>(run->ranks.size()) < run->report.world_size)
      return unavailable(format("not all ranks of {} are compared", name));
    if (std::ranges::any_of(*run->report.rank_rows, [](const RankRow& row) { return row.per_step.empty(); }))
      return unavailable(format("not all ranks of {} have steps", name));
  }
  const Computation of_a = computation_of(a);
  const Computation of_b = computation_of(b);
  if (of_a.useful_ns <= 0 || of_b.useful_ns <= 0) return unavailable("one of the runs has no compute time");
  const double same = of_a.useful_ns / of_b.useful_ns;
  const double ratio = static_cast<double>(b.ranks.size()) / static_cast<double>(a.ranks.size());
  return RankScaling{same, same * ratio, of_a.parallel, of_b.parallel};
}

/// By 1 % of a step: then something must have changed that much, in all.
bool any_part_changed(const Comparison& comparison) {
  if (!comparison.split) return false;
  for (std::size_t i = 0; i < split_part_count; ++i)
    if (std::abs(comparison.split->all.change_ns(static_cast<SplitPart>(i))) >= comparison.keys.least_change_ns)
      return true;
  return false;
}

}  // namespace

Comparison compare(const RunDigest& a, const RunDigest& b) {
  Comparison result;
  result.a = facts_of(a);
  result.b = facts_of(b);
  result.asked_for = {a.steps_asked_for, a.report.asked_for.ranks};
  result.steps = compare_steps(a, b, result.a, result.b);
  result.split = compare_splits(a, b);
  result.keys = compare_keys(a, b);
  if (!any_part_changed(result)) result.keys.below.clear();
  result.findings = compare_findings(a, b);
  result.memory = compare_memory(a, b);
  result.likeness = compare_facts(a, b);
  if (a.ranks.size() != b.ranks.size()) result.scaling = scaling_of(a, b);
  return result;
}

std::string_view name_of(StepVerdict verdict) {
  switch (verdict) {
    case StepVerdict::unchanged:
      return "unchanged";
    case StepVerdict::slower:
      return "slower";
    case StepVerdict::faster:
      return "faster";
    case StepVerdict::cannot_tell:
      return "cannot_tell";
  }
  return "?";
}

}  // namespace rankscope::analyzer
