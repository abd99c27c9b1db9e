// The optimizer of flat shards: sgd and adamw treat each element by itself, so shards get the numbers that whole
// parameters get, and its state is as long as the shards, which is the memory that ZeRO saves.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/step/step_parts.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

class FlatOptimizer {
 public:
  /// Updates `shards` in place.
  FlatOptimizer(const std::vector<at::Tensor>& shards, const OptimizerOptions& options);

  /// One update of a shard with its gradient, which is as long.
  void step(std::size_t shard, const at::Tensor& gradient);

  /// One update of each shard that has a gradient, which is gone then. `shards` are those it was made with.
  void step_with_gradients(const std::vector<at::Tensor>& shards);

  /// Multiplies the learning rate of the options in the updates from now on.
  void scale_rate(double factor);

  /// Updates of a shard so far.
  [[nodiscard]] std::int64_t steps(std::size_t shard) const { return shards_[shard].steps; }
  /// The state of a shard, in tensors as long as it: "momentum" of sgd, unless it has none; "exp_avg" and "exp_avg_sq"
  /// of adamw. Zeros before the first update.
  [[nodiscard]] std::vector<NamedTensor> state(std::size_t shard) const;
  /// Goes on from a state that state() gave after as many steps. Tensors of the wrong names or lengths are an error of
  /// kind unreadable.
  [[nodiscard]] Result<void> restore(std::size_t shard, std::int64_t steps, const std::vector<NamedTensor>& state);

 private:
  struct Shard {
    at::Tensor values;
    std::unique_ptr<torch::optim::Optimizer> optimizer;
    std::int64_t steps = 0;
  };

  OptimizerOptions options_;
  std::vector<Shard> shards_;
};

}  // namespace rankscope::trainer
