// Where a step became longer: means of the parts of its window (metrics.md 17.2).
#pragma once

#include "rankscope/analyzer/compare/compare.h"

namespace rankscope::analyzer {

/// Unavailable without steps: whole recordings are not comparable.
[[nodiscard]] Section<SplitComparison> compare_splits(const RunDigest& a, const RunDigest& b);

}  // namespace rankscope::analyzer
