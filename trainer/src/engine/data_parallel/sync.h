// How gradients become equal on all ranks; a training step calls these in this order.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "engine/comm/comm.h"
#include "engine/models/model.h"
#include "rankscope/core/result.h"
#include "rankscope/trainer/layout/buckets.h"

namespace rankscope::trainer {

enum class Reduction : std::uint8_t {
  now,    ///< gradients of this backward are reduced
  later,  ///< they are only accumulated (no_sync)
};

class GradientSync {
 public:
  virtual ~GradientSync() = default;
  /// Before each forward; buffers come from rank 0 here, if wanted.
  virtual Result<void> before_forward(Reduction reduction) = 0;
  /// Between forward and backward.
  virtual Result<void> before_backward(const at::Tensor& loss) = 0;
  /// After backward; with Reduction::now the gradients are the mean over ranks from here on.
  virtual Result<void> after_backward() = 0;
  /// Injected delay of the last reduction of the step, between enqueued and started.
  virtual void delay_last(std::chrono::nanoseconds delay) = 0;
};

struct SyncOptions {
  BucketCaps caps;
  bool find_unused = false;
  bool broadcast_buffers = true;
  bool keep_order = false;  ///< of buckets: sums in another order would round differently after a resume
};

/// One process alone: nothing to do.
[[nodiscard]] std::unique_ptr<GradientSync> make_no_sync();

/// Our reducer. Takes parameters and buffers of rank 0 first. Hooks that shall run before it are installed earlier.
[[nodiscard]] Result<std::unique_ptr<GradientSync>> make_own_sync(const Model& model, Comm& comm, SyncOptions options);

/// PyTorch's c10d::Reducer over the same Comm, as a cross-check of ours.
[[nodiscard]] Result<std::unique_ptr<GradientSync>> make_c10d_sync(const Model& model, Comm& comm, SyncOptions options);

/// Of ranks that share every layer: sums the terms that gradients have on each of them (Model::with_gradient_terms).
/// The injected delay is that of the first operation of the step, since a layer waits for all of its operations.
[[nodiscard]] std::unique_ptr<GradientSync> make_tensor_sync(const Model& model, Comm& comm);

/// One for each device of the process, in the order of their layers; backward reaches the last one first.
[[nodiscard]] std::unique_ptr<GradientSync> make_device_sync(std::vector<std::unique_ptr<GradientSync>> of_devices);

/// Broadcasts parameters and buffers of rank 0.
[[nodiscard]] Result<void> broadcast_state(const Model& model, Comm& comm);
/// Broadcasts the floating-point buffers (BatchNorm statistics) of rank 0, packed into one tensor.
[[nodiscard]] Result<void> broadcast_buffers(const torch::nn::Module& module, Comm& comm);

}  // namespace rankscope::trainer
