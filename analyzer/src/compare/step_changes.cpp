#include "compare/step_changes.h"

#include <algorithm>
#include <cmath>

#include "compare/bootstrap.h"
#include "compare/key_changes.h"
#include "compare/losses.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"

namespace rankscope::analyzer {
namespace {

/// Why the steps of the two are too few or too short to be compared; empty if they are not.
std::string too_few(const ComparedRun& a, const ComparedRun& b) {
  for (const ComparedRun* run : {&a, &b}) {
    const std::string& name = run->name.label;
    if (!run->median_ns) return format("{} has no counted steps ({})", name, run->why_no_steps);
    if (*run->median_ns <= 0) return format("half of the steps of {} take no time at all", name);
    if (run->counted_steps < static_cast<std::int64_t>(least_compared_steps))
      return format("{} has {}, but {} are needed to distinguish a change from chance", name,
                    counted(run->counted_steps, "counted step"), least_compared_steps);
  }
  return {};
}

bool is_change(const MeasureChange& change) {
  return (change.low > 0 || change.high < 0) && std::abs(change.change) >= least_change;
}

/// The mean says more than the median only if the median cannot have changed as much: else both vary by the same
/// chance.
bool mean_leads(const MeasureChange& median, const MeasureChange& mean) {
  const bool beyond = mean.change < median.low || mean.change > median.high;
  if (!beyond || !is_change(mean)) return false;
  const bool same_way = (mean.change > 0) == (median.change > 0);
  return !is_change(median) || !same_way || std::abs(mean.change) > std::abs(median.change);
}

/// Of the measure that changed more.
void judge(const MeasureChange& median, const MeasureChange& mean, StepComparison& steps) {
  steps.judged_by = mean_leads(median, mean) ? StepMeasure::mean : StepMeasure::median;
  const MeasureChange& leading = steps.judged_by == StepMeasure::mean ? mean : median;
  steps.verdict = StepVerdict::unchanged;
  if (!is_change(leading)) return;
  steps.verdict = leading.change > 0 ? StepVerdict::slower : StepVerdict::faster;
  steps.severity = severity_of(std::abs(leading.change), two_runs_limits);
}

}  // namespace

StepComparison compare_steps(const StepsOfRun& a, const StepsOfRun& b, Losses losses) {
  StepComparison steps;
  if (a.shown.median_ns.value_or(0) > 0 && b.shown.median_ns)
    steps.change = static_cast<double>(*b.shown.median_ns) / static_cast<double>(*a.shown.median_ns) - 1;
  const std::string few = too_few(a.shown, b.shown);
  steps.why = losses == Losses::refused ? not_intact(a.shown, b.shown) : std::string{};
  if (steps.why.empty()) steps.why = few;
  if (!few.empty()) return steps;
  const MeasureChange median = change_between(a.digest.step_walls_ns, b.digest.step_walls_ns, StepMeasure::median);
  const MeasureChange mean = change_between(a.digest.step_walls_ns, b.digest.step_walls_ns, StepMeasure::mean);
  steps.low = median.low;
  steps.high = median.high;
  steps.mean = mean;
  if (steps.why.empty()) judge(median, mean, steps);
  return steps;
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

std::string_view name_of(StepMeasure measure) {
  switch (measure) {
    case StepMeasure::median:
      return "median";
    case StepMeasure::mean:
      return "mean";
  }
  return "?";
}

}  // namespace rankscope::analyzer
