// Whether a run may pass (metrics.md 17.3).
#include <algorithm>

#include "compare/words.h"
#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view more_steps = "record more steps, or record on a quieter machine";

/// What one measure says.
struct Judged {
  GateVerdict verdict = GateVerdict::pass;
  std::string why{};
};

/// So far above the limit a change may be by chance.
double most_by_chance(double limit) { return std::max(2 * limit, limit + 0.01); }

Judged judge_median(const MeasureChange& median, double limit) {
  if (median.change > limit) {
    if (median.low > 0) return {GateVerdict::fail};
    return {GateVerdict::cannot_tell,
            format("the change in the median step is above the limit, but may be due to chance; {}", more_steps)};
  }
  if (median.high <= most_by_chance(limit)) return {GateVerdict::pass};
  return {GateVerdict::cannot_tell,
          format("the change in the median step is not above the limit, but its 95 % interval extends too far above "
                 "it; {}",
                 more_steps)};
}

/// One long step changes the mean and its interval much, so the end of the interval is not limited.
Judged judge_mean(const MeasureChange& mean, double limit) {
  if (mean.change > limit && mean.low > 0) return {GateVerdict::fail};
  if (mean.change <= most_by_chance(limit)) return {GateVerdict::pass};
  return {GateVerdict::cannot_tell,
          format("the change in the mean step is above the limit, but may be due to a few long steps; {}", more_steps)};
}

/// The worse of both, the median first. A failure is certain whatever the other says.
void judge_steps(const StepComparison& steps, Gate& gate) {
  Judged judged = judge_median({*steps.change, *steps.low, *steps.high}, gate.limit);
  const Judged mean = steps.mean ? judge_mean(*steps.mean, gate.limit) : Judged{};
  const bool mean_is_worse = (mean.verdict == GateVerdict::fail && judged.verdict != GateVerdict::fail) ||
                             (mean.verdict == GateVerdict::cannot_tell && judged.verdict == GateVerdict::pass);
  if (mean_is_worse) {
    gate.judged_by = StepMeasure::mean;
    judged = mean;
  }
  gate.verdict = judged.verdict;
  gate.why = judged.why;
}

}  // namespace

Gate judge(const Comparison& comparison, double limit, Likes likes) {
  Gate gate{GateVerdict::cannot_tell, limit, {}};
  const std::string other = likes == Likes::must_agree ? other_job(comparison.likeness) : std::string{};
  if (!other.empty())
    gate.why = format("the runs are not of the same job: {} (baseline against run)", other);
  else if (!comparison.steps.why.empty())
    gate.why = comparison.steps.why;
  else
    judge_steps(comparison.steps, gate);
  return gate;
}

std::string_view name_of(GateVerdict verdict) {
  switch (verdict) {
    case GateVerdict::pass:
      return "pass";
    case GateVerdict::fail:
      return "fail";
    case GateVerdict::cannot_tell:
      return "cannot_tell";
  }
  return "?";
}

}  // namespace rankscope::analyzer
