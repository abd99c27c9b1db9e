#include "rankscope/trainer/layout/tensor_part.h"

#include "rankscope/core/result.h"

namespace rankscope::trainer {

std::vector<Stretch> stretches_of(const TensorPart& part, std::int64_t extent) {
  RS_CHECK(part.part >= 0 && part.part < part.parts && extent % (part.sections * part.parts) == 0);
  const std::int64_t section = extent / part.sections;
  const std::int64_t length = section / part.parts;
  std::vector<Stretch> stretches;
  for (std::int64_t i = 0; i < part.sections; ++i) {
    stretches.push_back({.in_whole = i * section + part.part * length, .in_part = i * length, .length = length});
  }
  return stretches;
}

std::vector<std::int64_t> whole_shape(const TensorPart& part, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> whole{shape.begin(), shape.end()};
  if (part.parts == 1) return whole;
  RS_CHECK(part.dimension < whole.size());
  whole[part.dimension] *= part.parts;
  return whole;
}

}  // namespace rankscope::trainer
