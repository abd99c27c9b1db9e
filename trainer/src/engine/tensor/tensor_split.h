// Over which ranks the layers of a model are split (docs/tensor.md).
#pragma once

#include <cstdint>
#include <string>

#include "engine/comm/comm.h"
#include "rankscope/trainer/layout/tensor_part.h"
#include "rankscope/trainer/options/model_size.h"

namespace rankscope::trainer {

struct TensorSplit {
  Comm* comm = nullptr;  ///< the ranks that share every layer; null: the model is whole
  SequenceParallel sequence = SequenceParallel::no;

  [[nodiscard]] bool is_split() const { return comm != nullptr; }
  [[nodiscard]] bool splits_sequence() const { return is_split() && sequence == SequenceParallel::yes; }
  [[nodiscard]] std::int64_t parts() const { return is_split() ? comm->group().size() : 1; }
  [[nodiscard]] std::int64_t part() const { return is_split() ? comm->group().position : 0; }

  /// What this rank has of a tensor that is cut along a dimension, which has so many sections.
  [[nodiscard]] TensorPart along(std::size_t dimension, std::int64_t sections = 1) const {
    return {.dimension = dimension, .sections = sections, .parts = parts(), .part = part()};
  }
};

}  // namespace rankscope::trainer
