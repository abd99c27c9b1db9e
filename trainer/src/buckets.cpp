#include "rankscope/trainer/buckets.h"

#include <numeric>

namespace rankscope::trainer {

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
