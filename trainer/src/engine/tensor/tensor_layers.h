// Layers that may be split over the ranks of a group. They are drawn whole, so that the random numbers are those of the
// whole model; their block then keeps this rank's part (block.h). Where the model is whole they are the layers they
// derive from.
#pragma once

#include <string>

#include "engine/layers/block.h"
#include "engine/layers/layers.h"
#include "engine/tensor/tensor_ops.h"

namespace rankscope::trainer {

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
