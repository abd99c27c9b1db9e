// Layers that may be split over the ranks of a group. They are drawn whole, so that the random numbers are those of the
// whole model; their block then keeps this rank's part (block.h). Where the model is whole they are the layers they
// derive from.
#pragma once

#include <string>

#include "engine/layers/block.h"
#include "engine/layers/layers.h"
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

/// What a rank has of a linear layer.
enum class LinearShare : std::uint8_t {
  whole,
  column,  ///< rows of the weight [out, in], so columns of the output
  row,     ///< columns of the weight, for its part of the input; the bias is whole
};

struct TensorLinearImpl : LinearImpl {
  TensorLinearImpl(const torch::nn::LinearOptions& size, LinearShare what, SplitLayerPtr layer)
      : LinearImpl(size), share(what), layer_(std::move(layer)) {}
  at::Tensor forward(const at::Tensor& input);

  LinearShare share;

 private:
  SplitLayerPtr layer_;
};
TORCH_MODULE(TensorLinear);

/// Each rank has a part of the vocabulary, and nothing for tokens of the others.
struct TensorEmbeddingImpl : torch::nn::EmbeddingImpl {
  TensorEmbeddingImpl(std::int64_t vocabulary, std::int64_t width, SplitLayerPtr layer)
      : torch::nn::EmbeddingImpl(vocabulary, width), layer_(std::move(layer)) {}
  at::Tensor forward(const at::Tensor& tokens);

 private:
  SplitLayerPtr layer_;
};
TORCH_MODULE(TensorEmbedding);

/// Keeps this rank's part of a block's linear layer, which is registered under `name`. `sections` are those of its
/// output that lie behind one another.
void keep_share(Block& block, const std::string& name, const TensorLinear& linear, const TensorSplit& split,
                std::int64_t sections = 1);

}  // namespace rankscope::trainer
