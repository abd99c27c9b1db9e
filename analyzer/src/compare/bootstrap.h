// How far the change of a median between two series may be chance (metrics.md 17.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rankscope::analyzer {

inline constexpr std::size_t bootstrap_draws = 2000;
/// The same input gives the same interval (metrics.md C9).
inline constexpr std::uint64_t bootstrap_seed = 17;

/// median(b) / median(a) - 1, and the 95 % interval around it.
struct MedianChange {
  double change = 0;
  double low = 0;
  double high = 0;
  bool operator==(const MedianChange&) const = default;
};

/// How many neighbouring values are drawn together: max(3, round(cube root of the count)), at most all of them.
[[nodiscard]] std::size_t block_length(std::size_t count);

/// Moving-block bootstrap of both series: quantiles of the changes of the draws. Their distances from the observed
/// change are widened by S / (S - block) of the shorter series, since a bootstrap from few blocks understates the
/// variation of the series: without it, ten equal steps differ "significantly" in 10 % of all pairs instead of 5 %.
/// Each series has more values than a block; the median of `a` is positive.
[[nodiscard]] MedianChange change_of_medians(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace rankscope::analyzer
