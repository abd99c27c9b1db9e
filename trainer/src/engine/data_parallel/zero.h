// ZeRO (docs/zero.md): ranks that share a batch have the optimizer's state in equal shards; from stage 2 on the
// gradients, too, and in stage 3 the parameters.
#pragma once

#include <memory>
#include <vector>

#include "engine/data_parallel/flat_optimizer.h"
#include "engine/data_parallel/sync.h"
#include "engine/step/computation.h"
#include "rankscope/trainer/layout/flat_layout.h"

namespace rankscope::trainer {

struct ZeroOptions {
  ZeroStage stage = ZeroStage::optimizer;
  BucketCaps caps{};  ///< of the buckets of the first two stages; in the third each block of the model is a unit
  bool broadcast_buffers = true;
  OptimizerOptions optimizer{};
};

/// Gradients that end in shards, and the optimizer there.
class ZeroSync : public GradientSync {
 public:
  /// Updates this rank's shards. Gradients are gone then; in the first two stages each rank has all new parameters.
  virtual Result<void> update(Pacer& pacer) = 0;
  /// The mean gradients of all parameters, in the model's order, between after_backward() and update(). Each rank
  /// gets them, and must ask for them.
  virtual Result<std::vector<NamedTensor>> gradients() = 0;

  /// What this rank owns.
  struct Owned {
    const FlatLayout& layout;
    const std::vector<at::Tensor>& parameters;  ///< a shard of each unit
    FlatOptimizer& optimizer;                   ///< of these shards
  };
  virtual Owned owned() = 0;
  /// Tells that all ranks have written into owned().parameters.
  virtual Result<void> parameters_were_set() = 0;
};

/// Stages 1 and 2, for whatever computes with the model's own parameters and makes whole gradients of them. Takes
/// parameters and buffers of rank 0 first; the parameters become views of flat tensors. `comm` is null for one process
/// alone. Hooks that shall run before its own are installed earlier.
[[nodiscard]] Result<std::unique_ptr<ZeroSync>> make_zero_buckets(const Model& model, Comm* comm,
                                                                  const ZeroOptions& options);

/// A computation and where its gradients go.
struct Zero {
  std::unique_ptr<ZeroSync> sync;
  std::unique_ptr<Computation> computation;  ///< may use sync
};
/// Of any stage. After stage 3 has been made, the model's parameters have values only while their block computes.
[[nodiscard]] Result<Zero> make_zero(ComputationPlan plan, Comm* comm, const ZeroOptions& options);
[[nodiscard]] Result<Zero> make_zero_units(const ComputationPlan& plan, Comm* comm, const ZeroOptions& options);

}  // namespace rankscope::trainer
