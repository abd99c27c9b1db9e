// Mixed precision (--dtype bf16): parameters, their gradients, the optimizer, statistics and losses are f32, and the
// forward computes products of matrices, convolutions and attention in bf16, under libtorch's autocast. Layers of ours
// that are functions of autograd take what they work on through lowered(), since autocast does not follow them into
// backward.
#pragma once

#include "engine/libtorch.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {

/// While one exists forwards on this thread are mixed, if `type` is. Casts of weights are not kept: each weight is used
/// once in a forward, and a cast that a function of autograd has made knows nothing of its weight.
class MixedPrecision {
 public:
  explicit MixedPrecision(DataType type);
  MixedPrecision(const MixedPrecision&) = delete;
  MixedPrecision& operator=(const MixedPrecision&) = delete;
  ~MixedPrecision();

 private:
  bool was_mixed_;
  bool kept_casts_;
};

/// Whether one exists on this thread.
[[nodiscard]] bool is_mixed();
/// In bf16 where forwards are mixed; undefined tensors and other types than f32 as they are.
[[nodiscard]] at::Tensor lowered(const at::Tensor& tensor);
/// In f32 what is in bf16.
[[nodiscard]] at::Tensor in_full(const at::Tensor& tensor);

/// Of parameters, gradients and samples.
[[nodiscard]] at::ScalarType torch_type(DataType type);
/// Of what stages, devices and split layers give to one another, and of its gradients.
[[nodiscard]] at::ScalarType activation_type(DataType type);

}  // namespace rankscope::trainer
