// The few statistics that metrics.md names, in the form it gives them (C4, 9.2, 9.4).
#pragma once

#include <cstdint>
#include <span>

#include "rankscope/core/median.h"

namespace rankscope::analyzer {

using rankscope::median;
using rankscope::median_row;
using rankscope::sorted_median;

/// Median of the absolute distances from the median.
[[nodiscard]] std::int64_t median_deviation(std::span<const std::int64_t> values);
/// 1.4826 x MAD: the standard deviation, if the values were normal.
[[nodiscard]] double robust_sigma(std::span<const std::int64_t> values);
/// Linear between order statistics, rounded to 1 ns; `share` in [0, 1].
[[nodiscard]] std::int64_t quantile(std::span<const std::int64_t> values, double share);
/// The same of values that ascend already.
[[nodiscard]] std::int64_t sorted_quantile(std::span<const std::int64_t> sorted, double share);
/// P(X >= hits) for X ~ Binomial(trials, chance).
[[nodiscard]] double binomial_tail(std::int64_t hits, std::int64_t trials, double chance);
/// P(T >= t) for T of Student's t distribution with so many degrees of freedom; t >= 0.
[[nodiscard]] double student_tail(double t, std::int64_t degrees);
/// z_n of metrics.md 9.2: what the farthest of n equal ranks passes by chance in 5 % of windows. n >= 4.
[[nodiscard]] double straggler_threshold(std::size_t ranks);

}  // namespace rankscope::analyzer
