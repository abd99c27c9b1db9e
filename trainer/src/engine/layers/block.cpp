#include "engine/layers/block.h"

namespace rankscope::trainer {

void Block::keep(const std::string& path, const TensorPart& part) {
  at::Tensor parameter = named_parameters()[path];
  const auto dimension = static_cast<std::int64_t>(part.dimension);
  std::vector<at::Tensor> kept;
  for (const Stretch& stretch : stretches_of(part, parameter.size(dimension))) {
    kept.push_back(parameter.detach().narrow(dimension, stretch.in_whole, stretch.length));
  }
  parameter.set_data(at::cat(kept, dimension));
  parts_[path] = part;
}

TensorPart Block::part_of(const std::string& path) const {
  const auto found = parts_.find(path);
  return found == parts_.end() ? TensorPart{} : found->second;
}

}  // namespace rankscope::trainer
