// Many tests at once: how often may a find be false? (metrics.md 17.2)
#pragma once

#include <span>
#include <vector>

namespace rankscope::analyzer {

/// Benjamini-Hochberg: the tests whose result is at most q are a list of which a share of q is false on average.
/// Parallel to `p`.
[[nodiscard]] std::vector<double> adjusted_for_many(std::span<const double> p);

}  // namespace rankscope::analyzer
