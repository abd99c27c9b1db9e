// The state of a training as tensors with names, whoever holds which part of them: what checkpoints are made of.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data_parallel/flat_optimizer.h"
#include "engine/data_parallel/flat_parameters.h"
#include "engine/step/step_parts.h"
#include "rankscope/trainer/checkpoint/share.h"
#include "rankscope/trainer/checkpoint/tensor.h"
#include "rankscope/trainer/layout/tensor_part.h"

namespace rankscope::trainer {

/// Which ranks hold the same elements, and so who saves them.
enum class StateHolder : std::uint8_t {
  this_rank,   ///< nobody else
  other_rank,  ///< another rank saves them
  replicas,    ///< several, which share the work
};

/// What this rank has of a tensor.
struct StateTensor {
  TensorInfo tensor;
  ElementRange range;  ///< of its elements
  at::Tensor values;   ///< as many, of any shape
  StateHolder holder = StateHolder::replicas;
  std::vector<int> replicas{};  ///< which ranks those are, ascending; empty: all
};
using TrainingState = std::vector<StateTensor>;

/// Who else holds the same parameters.
struct StateHolders {
  bool keeps_wholes = true;      ///< see add_sharded
  std::vector<int> of_parts{};   ///< of parameters that are split over the ranks of a tensor group; empty: this rank
  std::vector<int> of_wholes{};  ///< of those that are not; empty: all ranks
};

/// Parameters of a model, each updated as a whole by `optimizer`, which has them in their order.
void add_whole(TrainingState& state, const Model& model, const FlatOptimizer& optimizer, const StateHolders& holders);

/// Parameters of which each rank owns flat shards, and the state of the optimizer of these shards. Of parameters that
/// are not split the ranks of a tensor group own the same shards: `keeps_wholes` says which of them saves those.
struct OwnerOfShards {
  const FlatLayout& layout;
  int rank;
};
void add_sharded(TrainingState& state, const Model& model, OwnerOfShards owner, const std::vector<at::Tensor>& shards,
                 const FlatOptimizer& optimizer, bool keeps_wholes = true);

/// Floating-point buffers (BatchNorm statistics); rank 0's are those that are kept.
void add_buffers(TrainingState& state, const Model& model, bool is_keeper);

/// The other way: `values` are those of the tensors that the functions above have added, in the same order, from
/// `next` on, which moves behind them.
[[nodiscard]] Result<void> restore_whole(const std::vector<at::Tensor>& values, std::size_t& next, const Model& model,
                                         FlatOptimizer& optimizer, std::int64_t steps);
[[nodiscard]] Result<void> restore_sharded(const std::vector<at::Tensor>& values, std::size_t& next,
                                           OwnerOfShards owner, const std::vector<at::Tensor>& shards,
                                           FlatOptimizer& optimizer, std::int64_t steps);
void restore_buffers(const std::vector<at::Tensor>& values, std::size_t& next, const Model& model);

}  // namespace rankscope::trainer
