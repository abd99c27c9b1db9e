// Which kernels, operators and operations of groups became slower, and which are new or gone (metrics.md 17.2).
#pragma once

#include "rankscope/analyzer/compare/compare.h"

namespace rankscope::analyzer {

/// Steps that a run needs before chance can be told from change (metrics.md 17.1).
inline constexpr std::size_t least_compared_steps = 10;
/// What is smaller is no change (17.1, 17.2), as a share of the step.
inline constexpr double least_change = 0.01;

/// Ranks that take part in the sums of the run's steps.
[[nodiscard]] std::int64_t ranks_in_sums(const RunDigest& run);

[[nodiscard]] KeyComparison compare_keys(const RunDigest& a, const RunDigest& b);

// Where a step became longer: means of the parts of its window (metrics.md 17.2).

/// Unavailable without steps: whole recordings are not comparable.
[[nodiscard]] Section<SplitComparison> compare_splits(const RunDigest& a, const RunDigest& b);

}  // namespace rankscope::analyzer
