// Whether the steps became longer (metrics.md 17.1).
#pragma once

#include "rankscope/analyzer/compare/compare.h"

namespace rankscope::analyzer {

/// One of the two runs, and what is shown of it.
struct StepsOfRun {
  const RunDigest& digest;
  const ComparedRun& shown;
};
[[nodiscard]] StepComparison compare_steps(const StepsOfRun& a, const StepsOfRun& b, Losses losses);

}  // namespace rankscope::analyzer
