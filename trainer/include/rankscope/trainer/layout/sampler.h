// Which samples a rank trains on: every rank draws the same permutation and takes its own stride of it.
#pragma once

#include <cstdint>
#include <vector>

namespace rankscope::trainer {

/// Counter-based random numbers: the value depends only on its arguments, on every machine.
[[nodiscard]] std::uint64_t mix(std::uint64_t seed, std::uint64_t counter);

/// The samples of one rank in an epoch. The permutation is padded by wrap-around to a multiple of `ranks`, so that all
/// ranks have equally many; rank r takes positions r, r + ranks, ...
struct DistributedSampler {
  std::int64_t samples = 0;
  int ranks = 1;
  int rank = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] std::int64_t per_rank() const;
  [[nodiscard]] std::vector<std::int64_t> epoch(std::int64_t index) const;
};

}  // namespace rankscope::trainer
