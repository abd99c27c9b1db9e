// Who writes what: each element of a training state is written by one rank.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankscope/trainer/checkpoint/tensor.h"

namespace rankscope::trainer {

/// A tensor of which this rank holds something.
struct HeldTensor {
  std::string name;
  std::int64_t elements = 0;  ///< of the whole tensor
  std::int64_t element_bytes = 4;
  std::optional<ElementRange> owned{};  ///< what this rank alone holds; nothing: several ranks hold all of it
  std::vector<int> replicas{};          ///< which ranks those are, ascending; empty: all of the world
};

/// Flat range of a tensor that stands in a file.
struct TensorRange {
  std::string tensor;
  ElementRange range;

  bool operator==(const TensorRange&) const = default;
};

/// What `rank` writes, in the order of `held`: what it owns, and its share of what is replicated. The ranks of one set
/// of replicas share its bytes evenly; a tensor is only cut where it is larger than an even share, so that most keep
/// their shape in the file. All ranks of a set must hold the same tensors with that set, in the same order.
[[nodiscard]] std::vector<TensorRange> ranges_to_write(std::span<const HeldTensor> held, int rank, int world);

}  // namespace rankscope::trainer
