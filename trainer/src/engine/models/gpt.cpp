#include "engine/models/kinds.h"

#include "engine/layers/module_scope.h"
#include "engine/tensor/tensor_layers.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

namespace nn = torch::nn;

nn::LayerNorm norm_of(std::int64_t width) { return nn::LayerNorm(nn::LayerNormOptions({width})); }

// A norm sees all of the width, but with a split sequence only this rank's tokens.
void share_norm(Block& block, const std::string& name, const TensorSplit& split) {
  if (!split.splits_sequence()) return;
  block.has_gradient_terms(name + ".weight");
  block.has_gradient_terms(name + ".bias");
}

class TokenEmbedding final : public Block {
 public:
  TokenEmbedding(std::int64_t vocabulary, const GptSize& size, const TensorSplit& split)
      : token_(
            register_module("token", TensorEmbedding(vocabulary, size.hidden, split_layer(split, "embedding.token")))),
        position_(register_parameter("position", 0.02 * torch::randn({size.sequence, size.hidden}))),
        split_(split) {
    nn::init::normal_(token_->weight, 0.0, 0.02);
    work = 2.0 * static_cast<double>(size.sequence * size.hidden) / static_cast<double>(split.parts());
    if (split.is_split()) keep("token.weight", split.along(0));
    if (split.splits_sequence()) has_gradient_terms("position");
  }
  at::Tensor forward(const at::Tensor& tokens) override {
    const std::int64_t parts = split_.splits_sequence() ? split_.parts() : 1;
    const std::int64_t length = tokens.size(1) / parts;
    const std::int64_t begin = parts > 1 ? split_.part() * length : 0;
    return run(token_, tokens) + position_.narrow(0, begin, length);
  }

 private:
  TensorEmbedding token_;
  at::Tensor position_;
  TensorSplit split_;
};

class TransformerBlock final : public Block {
 public:
  TransformerBlock(const GptSize& s, const TensorSplit& split, const std::string& name)
      : heads_(s.heads / split.parts()),
        norm1_(register_module("norm1", norm_of(s.hidden))),
        qkv_(linear("qkv", {s.hidden, 3 * s.hidden}, LinearShare::column, split_layer(split, name + ".qkv"))),
        out_(linear("out", {s.hidden, s.hidden}, LinearShare::row, split_layer(split, name + ".out"))),
        norm2_(register_module("norm2", norm_of(s.hidden))),
        up_(linear("up", {s.hidden, 4 * s.hidden}, LinearShare::column, split_layer(split, name + ".up"))),
        down_(linear("down", {4 * s.hidden, s.hidden}, LinearShare::row, split_layer(split, name + ".down"))) {
    const auto per_token =
        12.0 * flops_of_linear(s.hidden, s.hidden) + 4.0 * static_cast<double>(s.sequence * s.hidden);
    work = static_cast<double>(s.sequence) * per_token / static_cast<double>(split.parts());
    keep_share(*this, "qkv", qkv_, split, 3);
    keep_share(*this, "out", out_, split);
    keep_share(*this, "up", up_, split);
    keep_share(*this, "down", down_, split);
    share_norm(*this, "norm1", split);
    share_norm(*this, "norm2", split);
  }
  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor attended = input + run(out_, attention(run(qkv_, run(norm1_, input))));
    return attended + run(down_, at::gelu(run(up_, run(norm2_, attended))));
  }

 private:
  TensorLinear linear(const char* name, const nn::LinearOptions& size, LinearShare share, SplitLayerPtr layer) {
    return register_module(name, TensorLinear(size, share, std::move(layer)));
  }

  // Of the heads of this rank; each of q, k and v has them behind one another.
  at::Tensor attention(const at::Tensor& qkv) const {
    const auto batch = qkv.size(0);
    const auto sequence = qkv.size(1);
    const auto width = qkv.size(2) / 3;
    const auto parts = qkv.view({batch, sequence, 3, heads_, width / heads_}).permute({2, 0, 3, 1, 4}).unbind(0);
    const at::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    return mixed.transpose(1, 2).reshape({batch, sequence, width});
  }

  std::int64_t heads_;  // of this rank
  nn::LayerNorm norm1_;
  TensorLinear qkv_;
  TensorLinear out_;
  nn::LayerNorm norm2_;
  TensorLinear up_;
  TensorLinear down_;
};

class TokenHead final : public Block {
 public:
  TokenHead(const GptSize& size, std::int64_t vocabulary, const TensorSplit& split)
      : norm_(register_module("norm", norm_of(size.hidden))),
        linear_(register_module("linear", TensorLinear(nn::LinearOptions(size.hidden, vocabulary).bias(false),
                                                       LinearShare::column, split_layer(split, "head.linear")))) {
    work = static_cast<double>(size.sequence) * flops_of_linear(size.hidden, vocabulary) /
           static_cast<double>(split.parts());
    keep_share(*this, "linear", linear_, split);
    share_norm(*this, "norm", split);
  }
  at::Tensor forward(const at::Tensor& input) override {
    return run(linear_, run(norm_, input)).flatten(0, 1);  // one row of logits per token, as labels are
  }

 private:
  nn::LayerNorm norm_;
  TensorLinear linear_;
};

}  // namespace

Result<std::shared_ptr<Model>> build_gpt(const ModelOptions& options, const SampleShape& shape,
                                         const TensorSplit& split) {
  const GptSize size = gpt_size(options);
  if (size.hidden % size.heads != 0) {
    return fail(ErrorKind::usage, format("--hidden {} is not a multiple of --heads {}", size.hidden, size.heads));
  }
  auto model = std::make_shared<Model>();
  model->add("embedding", std::make_shared<TokenEmbedding>(shape.classes, size, split));
  for (std::int64_t layer = 0; layer < size.layers; ++layer) {
    const std::string name = format("layer{}", layer);
    model->add(name, std::make_shared<TransformerBlock>(size, split, name));
  }
  model->add("head", std::make_shared<TokenHead>(size, shape.classes, split));
  if (split.is_split()) {
    model->set_loss([split](const at::Tensor& logits, const at::Tensor& labels) {
      const SplitLoss loss = split_cross_entropy(logits, labels, split);
      return Loss{loss.mean, loss.correct};
    });
  }
  return model;
}

}  // namespace rankscope::trainer
