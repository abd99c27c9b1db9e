// Whether a run may pass (metrics.md 17.3).
#include <algorithm>

#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

/// "world size 4 against 8, dtype f32 against bf16"; empty if the runs may be compared.
std::string other_job(const Likeness& likeness) {
  std::string list;
  for (const Difference& row : likeness.differences)
    if (row.must_agree) list += format("{}{} {} against {}", list.empty() ? "" : ", ", row.what, row.a, row.b);
  return list;
}

constexpr std::string_view more_steps = "record more steps, or record on a quieter machine";

}  // namespace

Gate judge(const Comparison& comparison, double limit, Likes likes) {
  Gate gate{GateVerdict::cannot_tell, limit, {}};
  const std::string other = likes == Likes::must_agree ? other_job(comparison.likeness) : std::string{};
  const StepComparison& steps = comparison.steps;
  if (!other.empty()) {
    gate.why = format("the runs are not of the same job: {} (baseline against run)", other);
  } else if (!steps.why.empty()) {
    gate.why = steps.why;
  } else if (*steps.change > limit) {
    if (*steps.low > 0)
      gate.verdict = GateVerdict::fail;
    else
      gate.why = format("the change is above the limit, but may be due to chance; {}", more_steps);
  } else if (*steps.high <= std::max(2 * limit, limit + 0.01)) {
    gate.verdict = GateVerdict::pass;
  } else {
    gate.why =
        format("the change is below the limit, but its 95 % interval reaches too far above the limit; {}", more_steps);
  }
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
