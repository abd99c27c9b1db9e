// How gradients are grouped for reduction: filled in order, closed when a cap is reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::trainer {

/// The bytes of gradients at which a bucket is full.
struct BucketCaps {
  std::size_t first_bytes = 1024u * 1024u;  ///< small, so that communication starts early in backward
  std::size_t bytes = 25u * 1024u * 1024u;
};

/// Indices into `sizes` (bytes of each parameter), grouped; `order` is the expected order of readiness.
[[nodiscard]] std::vector<std::vector<std::size_t>> assign_buckets(std::span<const std::size_t> sizes,
                                                                   std::span<const std::int64_t> order,
                                                                   BucketCaps caps);

/// Of `mib` MiB, the first a quarter of it and at most 1; 0 means 25, or 0.5 for tiny models so that they, too, have
/// several buckets.
[[nodiscard]] BucketCaps bucket_caps(double mib, bool tiny);

/// Reverse order of registration: what backward is expected to do before it has been observed.
[[nodiscard]] std::vector<std::int64_t> reverse_order(std::size_t count);

}  // namespace rankscope::trainer
