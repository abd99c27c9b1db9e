// What split layers do with the other ranks of their group, as operations that autograd knows (trainer.md 3.6).
//
// Activations are [batch, sequence, width], or [batch, width] without a sequence. With a split sequence, what lies
// between the layers has this rank's part of dimension 1. Operations are labelled with the layer's name and the pass.
// They throw when a rank is lost: backward has no other way to tell. In mixed precision (precision.h) what they send is
// bf16, but for the cross entropy.
#pragma once

#include <string>

#include "engine/libtorch.h"
#include "engine/tensor/tensor_split.h"

namespace rankscope::trainer {

/// A layer that is split; autograd holds on to it until its backward is done.
struct SplitLayer final : torch::CustomClassHolder {
  SplitLayer(const TensorSplit& with, std::string called) : split(with), name(std::move(called)) {}
  TensorSplit split;
  std::string name;  ///< its path in the model: "layer0.qkv"
};
using SplitLayerPtr = c10::intrusive_ptr<SplitLayer>;

/// Null where the model is whole.
[[nodiscard]] SplitLayerPtr split_layer(const TensorSplit& split, std::string name);

/// Product of the whole input and this rank's rows of a weight [out / ranks, in]. Backward sums the input's gradient
/// over the ranks while it computes that of the weight. With a split sequence, forward gathers the input (and backward
/// again, so that nobody keeps all of it), and backward leaves this rank's part of the sum.
[[nodiscard]] at::Tensor column_product(const at::Tensor& input, const at::Tensor& weight, const SplitLayerPtr& layer);

/// Sum of all ranks' terms: all of it, or with a split sequence this rank's part, whose gradient is gathered in
/// backward.
[[nodiscard]] at::Tensor sum_over_ranks(const at::Tensor& term, const SplitLayerPtr& layer);

/// Cross entropy of logits of which this rank has the columns [rows, vocabulary / ranks]; no rank ever has all of them.
struct SplitLoss {
  at::Tensor mean;
  at::Tensor correct;  ///< predictions that are right; where several logits are the largest, all of them count
};
[[nodiscard]] SplitLoss split_cross_entropy(const at::Tensor& logits, const at::Tensor& labels,
                                            const TensorSplit& split);

}  // namespace rankscope::trainer
