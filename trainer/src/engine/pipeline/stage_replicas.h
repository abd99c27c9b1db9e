// The copies of a pipeline's stage on data-parallel ranks: once all micro-batches are through, their gradients are
// averaged, while other stages may still compute. With ZeRO-1 each rank updates a shard of the stage (docs/zero.md).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "engine/comm/comm.h"
#include "engine/data_parallel/flat_optimizer.h"
#include "engine/data_parallel/flat_parameters.h"
#include "engine/data_parallel/training_state.h"
#include "rankscope/trainer/layout/buckets.h"

namespace rankscope::trainer {

enum class StageUpdate : std::uint8_t {
  whole,    ///< every copy updates all of it
  sharded,  ///< ZeRO-1
};

class StageReplicas {
 public:
  /// `comm` has the ranks with a copy as members; null where there is one copy.
  StageReplicas(std::shared_ptr<Model> stage, Comm* comm, StageUpdate update, const OptimizerOptions& optimizer,
                BucketCaps caps);

  /// Makes the copies equal, as rank 0 of the group has them.
  [[nodiscard]] Result<void> lay_out();

  /// All gradients of the step have been added up: begins to average them. The last reduction starts `delay` late.
  void reduce(std::chrono::nanoseconds delay);
  /// Waits for that. Without a group nothing is to be done.
  [[nodiscard]] Result<void> finish_reduction();
  /// The mean gradients of the stage's parameters, after that. All ranks of the group call it.
  [[nodiscard]] Result<std::vector<NamedTensor>> gradients() const;

  /// Runs the optimizer, its learning rate multiplied by `rate`; the gradients are gone then. A sharded update sends
  /// the new parameters.
  void update(double rate);
  /// Waits until the parameters of all shards are here.
  [[nodiscard]] Result<void> finish_update();

  /// For checkpoints; `holders` are of parameters that this rank has whole.
  void add_to(TrainingState& state, const StateHolders& holders) const;
  [[nodiscard]] Result<void> restore(const std::vector<at::Tensor>& values, std::size_t& next, std::int64_t steps);

 private:
  struct Bucket {
    at::Tensor parameters;  // of which those of the stage are views
    at::Tensor gradients;   // of all copies, from reduce() on
    at::Tensor own;         // this rank's part of them, where the update is sharded
    Handle pending;
  };
  [[nodiscard]] bool is_sharded() const { return comm_ != nullptr && update_ == StageUpdate::sharded; }
  void fill(std::size_t index);

  std::shared_ptr<Model> stage_;
  Comm* comm_;
  StageUpdate update_;
  OptimizerOptions options_;
  std::vector<at::Tensor> parameters_;
  std::optional<FlatParameters> flat_;  // where there are copies
  std::vector<Bucket> buckets_;
  std::vector<at::Tensor> shards_;  // this rank's, where the update is sharded
  std::optional<FlatOptimizer> optimizer_;
};

}  // namespace rankscope::trainer
