// Does one of two samples tend to larger values? (metrics.md 17.2)
#pragma once

#include <span>
#include <vector>

namespace rankscope::analyzer {

/// Benjamini-Hochberg: the tests whose result is at most q are a list of which a share of q is false on average.
/// Parallel to `p`.
[[nodiscard]] std::vector<double> adjusted_for_many(std::span<const double> p);

struct RankSum {
  double u = 0;  ///< pairs in which the value of `a` is the larger one; equal ones count half
  double p = 1;  ///< chance of a U this far from its mean if both are drawn alike
};

/// Mann-Whitney U, two-sided, by the normal approximation with corrections for ties and for continuity. Good from
/// about eight values a side on. Samples that are all equal, or empty, give p = 1.
[[nodiscard]] RankSum mann_whitney(std::span<const double> a, std::span<const double> b);

}  // namespace rankscope::analyzer
