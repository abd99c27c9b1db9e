#include "rankscope/trainer/layout/flat_layout.h"

#include <algorithm>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

FlatLayout::FlatLayout(std::span<const std::int64_t> sizes, std::vector<std::vector<std::size_t>> units, int ranks)
    : sizes_(sizes.begin(), sizes.end()), ranks_(ranks) {
  std::vector<bool> placed(sizes_.size(), false);
  for (auto& parameters : units) {
    FlatUnit unit{.parameters = std::move(parameters)};
    for (const std::size_t parameter : unit.parameters) {
      RS_CHECK(parameter < sizes_.size() && !placed[parameter]);
      placed[parameter] = true;
      unit.begins.push_back(unit.used);
      unit.used += sizes_[parameter];
    }
    RS_CHECK(unit.used > 0);
    unit.padded = (unit.used + ranks_ - 1) / ranks_ * ranks_;
    units_.push_back(std::move(unit));
  }
  RS_CHECK(std::ranges::find(placed, false) == placed.end());
}

std::vector<OwnedRange> FlatLayout::owned_by(int rank) const {
  std::vector<OwnedRange> owned;
  for (std::size_t index = 0; index < units_.size(); ++index) {
    const FlatUnit& unit = units_[index];
    const std::int64_t shard_begin = shard_size(index) * rank;
    const std::int64_t shard_end = shard_begin + shard_size(index);
    for (std::size_t k = 0; k < unit.parameters.size(); ++k) {
      const std::int64_t first = unit.begins[k];
      const std::int64_t begin = std::max(first, shard_begin);
      const std::int64_t end = std::min(first + sizes_[unit.parameters[k]], shard_end);
      if (begin >= end) continue;
      owned.push_back({.parameter = unit.parameters[k],
                       .begin = begin - first,
                       .end = end - first,
                       .unit = index,
                       .at = begin - shard_begin});
    }
  }
  return owned;
}

}  // namespace rankscope::trainer
