// The one median (docs/metrics.md C4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope {

/// Median; of an even count lo + (hi - lo) / 2 in integers. 0 for no values.
[[nodiscard]] std::int64_t median(std::span<const std::int64_t> values);
/// Median of numbers that need no whole result; of an even count the mean of the two in the middle. 0 for no values.
[[nodiscard]] double median(std::vector<double> values);
/// Of values that ascend already.
[[nodiscard]] std::int64_t sorted_median(std::span<const std::int64_t> sorted);
/// Where the value in the middle stands: of an even count the lower one, of equal ones by their order. There must be
/// one.
[[nodiscard]] std::size_t median_row(std::span<const std::int64_t> values);

}  // namespace rankscope
