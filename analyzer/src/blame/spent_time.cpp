#include "blame/spent_time.h"

namespace rankscope::analyzer {
namespace {

bool has(std::uint32_t bits, Layer layer) { return (bits >> static_cast<unsigned>(layer) & 1U) != 0; }

std::size_t index_of(DelayPart part) { return static_cast<std::size_t>(part); }

/// What the rank did in a stretch with these layers.
std::size_t part_of(std::uint32_t bits) {
  if (has(bits, Layer::compute)) return index_of(DelayPart::compute);
  if (has(bits, Layer::transfer)) return index_of(DelayPart::network);
  if (has(bits, Layer::wait)) return spent_waiting;
  if (has(bits, Layer::unsplit)) return index_of(DelayPart::unmatched);
  if (has(bits, Layer::host_wait)) return index_of(has(bits, Layer::own_delay) ? DelayPart::network : DelayPart::host);
  if (has(bits, Layer::memory)) return index_of(DelayPart::memory);
  if (has(bits, Layer::for_others)) return index_of(DelayPart::unmatched);
  return index_of(has(bits, Layer::data) ? DelayPart::data : DelayPart::host);
}

}  // namespace

std::vector<Spent> spent_before(const Layers& layers, std::span<const RunTime> times) {
  std::vector<Spent> result;
  result.reserve(times.size());
  Sweep sweep(layers);
  Spent sum{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0)
      sweep.over({times[i - 1], times[i]}, [&](std::int64_t ns, std::uint32_t bits) { sum[part_of(bits)] += ns; });
    result.push_back(sum);
  }
  return result;
}

}  // namespace rankscope::analyzer
