#include "rankscope/core/median.h"

#include <algorithm>
#include <numeric>

#include "rankscope/core/result.h"

namespace rankscope {

std::int64_t median(std::span<const std::int64_t> values) {
  if (values.empty()) return 0;
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  const auto upper = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), upper, sorted.end());
  if (sorted.size() % 2 == 1) return *upper;
  const std::int64_t low = *std::max_element(sorted.begin(), upper);
  return low + (*upper - low) / 2;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto upper = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, upper);
  if (values.size() % 2 == 1) return *upper;
  return (*std::max_element(values.begin(), upper) + *upper) / 2;
}

std::int64_t sorted_median(std::span<const std::int64_t> sorted) {
  if (sorted.empty()) return 0;
  const std::int64_t high = sorted[sorted.size() / 2];
  if (sorted.size() % 2 == 1) return high;
  const std::int64_t low = sorted[sorted.size() / 2 - 1];
  return low + (high - low) / 2;
}

std::size_t median_row(std::span<const std::int64_t> values) {
  RS_CHECK(!values.empty());
  std::vector<std::size_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::ranges::stable_sort(rows, {}, [&](std::size_t row) { return values[row]; });
  return rows[(rows.size() - 1) / 2];
}

}  // namespace rankscope
