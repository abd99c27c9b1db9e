#include "rankscope/trainer/layout/buckets.h"

#include <algorithm>
#include <numeric>

namespace rankscope::trainer {

BucketCaps bucket_caps(double mib, bool tiny) {
  constexpr double bytes = 1024.0 * 1024.0;
  const double size = mib > 0 ? mib : (tiny ? 0.5 : 25.0);
  return {.first_bytes = static_cast<std::size_t>(std::min(1.0, size / 4) * bytes),
          .bytes = static_cast<std::size_t>(size * bytes)};
}

std::vector<std::vector<std::size_t>> assign_buckets(std::span<const std::size_t> sizes,
                                                     std::span<const std::int64_t> order, BucketCaps caps) {
  std::vector<std::vector<std::size_t>> buckets;
  std::size_t filled = 0;
  bool open = false;
  for (const auto index : order) {
    if (!open) buckets.emplace_back();
    const auto position = static_cast<std::size_t>(index);
    buckets.back().push_back(position);
    filled += sizes[position];
    open = filled < (buckets.size() == 1 ? caps.first_bytes : caps.bytes);
    if (!open) filled = 0;
  }
  return buckets;
}

std::vector<std::int64_t> reverse_order(std::size_t count) {
  std::vector<std::int64_t> order(count);
  std::iota(order.rbegin(), order.rend(), std::int64_t{0});
  return order;
}

}  // namespace rankscope::trainer
