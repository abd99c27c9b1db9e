// Are two runs of the same job? (metrics.md 17.3)
#pragma once

#include "rankscope/analyzer/compare/compare.h"

namespace rankscope::analyzer {

/// What they state about themselves, apart from what differs between any two runs (command line, exit status).
[[nodiscard]] Likeness compare_facts(const RunDigest& a, const RunDigest& b);

}  // namespace rankscope::analyzer
