#include "engine/tensor/tensor_layers.h"

#include "engine/layers/precision.h"

namespace rankscope::trainer {

at::Tensor TensorLinearImpl::forward(const at::Tensor& input) {
  if (!layer_ || share == LinearShare::whole) return LinearImpl::forward(input);
  const at::Tensor product = share == LinearShare::column ? column_product(input, weight, layer_)
                                                          : sum_over_ranks(without_bias(input), layer_);
  return bias.defined() ? product + lowered(bias) : product;
}

at::Tensor TensorEmbeddingImpl::forward(const at::Tensor& tokens) {
  if (!layer_) return torch::nn::EmbeddingImpl::forward(tokens);
  const std::int64_t rows = weight.size(0);
  const at::Tensor own = tokens - layer_->split.part() * rows;
  const at::Tensor foreign = own.lt(0).logical_or(own.ge(rows));
  const at::Tensor known = at::embedding(weight, own.masked_fill(foreign, 0));
  return sum_over_ranks(known.masked_fill(foreign.unsqueeze(-1), 0), layer_);
}

void keep_share(Block& block, const std::string& name, const TensorLinear& linear, const TensorSplit& split,
                std::int64_t sections) {
  const bool has_bias = linear->bias.defined();
  switch (split.is_split() ? linear->share : LinearShare::whole) {
    case LinearShare::whole:
      break;
    case LinearShare::column:
      block.keep(name + ".weight", split.along(0, sections));
      if (has_bias) block.keep(name + ".bias", split.along(0, sections));
      break;
    case LinearShare::row:
      block.keep(name + ".weight", split.along(1));
      // It is added to a part of the sequence only.
      if (has_bias && split.splits_sequence()) block.has_gradient_terms(name + ".bias");
      break;
  }
}

}  // namespace rankscope::trainer
