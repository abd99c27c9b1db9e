#include "rankscope/trainer/layout/sampler.h"

#include <numeric>
#include <utility>

namespace rankscope::trainer {

// splitmix64 finalizer over a Weyl sequence (Steele, Lea, Flood 2014). The standard library's engines are portable, its
// distributions and shuffle are not.
std::uint64_t mix(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed * 0xD1342543DE82EF95u + (counter + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::int64_t DistributedSampler::per_rank() const { return (samples + ranks - 1) / ranks; }

std::vector<std::int64_t> DistributedSampler::epoch(std::int64_t index) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const std::uint64_t epoch_seed = mix(seed, static_cast<std::uint64_t>(index));
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mix(epoch_seed, i) % i]);
  std::vector<std::int64_t> mine(static_cast<std::size_t>(per_rank()));
  for (std::size_t k = 0; k < mine.size(); ++k) {
    const auto position = k * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(rank);
    mine[k] = order[position % order.size()];
  }
  return mine;
}

}  // namespace rankscope::trainer
