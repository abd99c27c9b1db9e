#include "engine/model.h"

#include <algorithm>
#include <array>

#include "engine/layers.h"
#include "engine/module_scope.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

namespace nn = torch::nn;

double flops_of_linear(std::int64_t in, std::int64_t out) { return 2.0 * static_cast<double>(in * out); }

class LinearBlock final : public Block {
 public:
  LinearBlock(std::int64_t in, std::int64_t out, bool activation)
      : linear_(register_module("linear", Linear(in, out))), activation_(activation) {
    work = flops_of_linear(in, out);
  }
  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor output = run(linear_, input.flatten(1));
    return activation_ ? at::relu(output) : output;
  }

 private:
  Linear linear_;
  bool activation_;
};

std::shared_ptr<Model> build_mlp(const ModelOptions& options, const SampleShape& shape) {
  const bool tiny = options.scale == Scale::tiny;
  const std::int64_t hidden = options.hidden > 0 ? options.hidden : (tiny ? 256 : 4096);
  const std::int64_t layers = layers_of(options);
  auto model = std::make_shared<Model>();
  std::int64_t width = shape.values();
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    model->add(format("layer{}", layer), std::make_shared<LinearBlock>(width, hidden, true));
    width = hidden;
  }
  model->add("head", std::make_shared<LinearBlock>(width, shape.classes, false));
  if (options.unused_head) model->add_auxiliary(std::make_shared<LinearBlock>(width, shape.classes, false));
  return model;
}

// Height and width of the activations as they flow through a ResNet, for counting work.
struct Extent {
  std::int64_t height;
  std::int64_t width;
  [[nodiscard]] Extent after(std::int64_t stride) const {
    return {(height - 1) / stride + 1, (width - 1) / stride + 1};
  }
};

struct ConvShape {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel;
  std::int64_t stride;
};

// Convolution and batch normalization; the extent is that of its output.
class ConvNorm final : public Block {
 public:
  ConvNorm(ConvShape s, Extent output)
      : conv_(register_module(
            "conv",
            Conv2d(nn::Conv2dOptions(s.in, s.out, s.kernel).stride(s.stride).padding(s.kernel / 2).bias(false)))),
        norm_(register_module("norm", nn::BatchNorm2d(s.out))) {
    work = 2.0 * static_cast<double>(s.in * s.out * s.kernel * s.kernel * output.height * output.width);
    nn::init::kaiming_normal_(conv_->weight, 0, torch::kFanOut, torch::kReLU);
  }
  at::Tensor forward(const at::Tensor& input) override { return run(norm_, run(conv_, input)); }

 private:
  Conv2d conv_;
  nn::BatchNorm2d norm_;
};

class Stem final : public Block {
 public:
  Stem(ConvShape shape, Extent output) : conv_(register_module("conv", std::make_shared<ConvNorm>(shape, output))) {
    work = conv_->work;
  }
  at::Tensor forward(const at::Tensor& input) override { return at::relu(run(conv_, input)); }

 private:
  std::shared_ptr<ConvNorm> conv_;
};

class Residual final : public Block {
 public:
  Residual(const std::vector<ConvShape>& convs, Extent input) {
    Extent extent = input;
    std::int64_t stride = 1;
    for (const auto& shape : convs) {
      extent = extent.after(shape.stride);
      stride *= shape.stride;
      path_.push_back(register_module(format("conv{}", path_.size()), std::make_shared<ConvNorm>(shape, extent)));
      work += path_.back()->work;
    }
    const std::int64_t in = convs.front().in;
    const std::int64_t out = convs.back().out;
    if (stride == 1 && in == out) return;
    shortcut_ = register_module("shortcut", std::make_shared<ConvNorm>(ConvShape{in, out, 1, stride}, extent));
    work += shortcut_->work;
  }
  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor output = input;
    for (std::size_t i = 0; i < path_.size(); ++i) {
      output = run(path_[i], output);
      if (i + 1 < path_.size()) output = at::relu(output);
    }
    return at::relu(output + (shortcut_ ? run(shortcut_, input) : input));
  }

 private:
  std::vector<std::shared_ptr<ConvNorm>> path_;
  std::shared_ptr<ConvNorm> shortcut_;
};

class PooledHead final : public Block {
 public:
  PooledHead(std::int64_t in, std::int64_t classes) : linear_(register_module("linear", Linear(in, classes))) {
    work = flops_of_linear(in, classes);
  }
  at::Tensor forward(const at::Tensor& input) override { return run(linear_, input.mean({2, 3})); }

 private:
  Linear linear_;
};

struct ResNetPlan {
  std::array<int, 4> blocks;
  bool bottleneck;
};

// CIFAR form of He et al. 2015: a 3x3 stem of stride 1 and no pooling after it, since the images are small.
std::shared_ptr<Model> build_resnet(const ModelOptions& options, const SampleShape& shape, const ResNetPlan& plan) {
  const std::int64_t base = options.scale == Scale::tiny ? 8 : 64;
  auto model = std::make_shared<Model>();
  Extent extent{shape.height, shape.width};
  model->add("stem", std::make_shared<Stem>(ConvShape{shape.channels, base, 3, 1}, extent));
  std::int64_t channels = base;
  for (std::size_t stage = 0; stage < plan.blocks.size(); ++stage) {
    const std::int64_t width = base << stage;
    const std::int64_t out = plan.bottleneck ? 4 * width : width;
    for (int index = 0; index < plan.blocks[stage]; ++index) {
      const std::int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      const std::vector<ConvShape> convs =
          plan.bottleneck
              ? std::vector<ConvShape>{{channels, width, 1, 1}, {width, width, 3, stride}, {width, out, 1, 1}}
              : std::vector<ConvShape>{{channels, width, 3, stride}, {width, out, 3, 1}};
      model->add(format("stage{}_{}", stage, index), std::make_shared<Residual>(convs, extent));
      extent = extent.after(stride);
      channels = out;
    }
  }
  model->add("head", std::make_shared<PooledHead>(channels, shape.classes));
  return model;
}

struct GptSize {
  std::int64_t layers;
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t sequence;
};

GptSize gpt_size(const ModelOptions& options) {
  GptSize size = options.scale == Scale::tiny ? GptSize{0, 64, 4, 32} : GptSize{0, 256, 8, 128};
  size.layers = layers_of(options);
  if (options.hidden > 0) size.hidden = options.hidden;
  if (options.heads > 0) size.heads = options.heads;
  if (options.sequence > 0) size.sequence = options.sequence;
  return size;
}

class TokenEmbedding final : public Block {
 public:
  TokenEmbedding(std::int64_t vocabulary, const GptSize& size)
      : token_(register_module("token", nn::Embedding(vocabulary, size.hidden))),
        position_(register_parameter("position", 0.02 * torch::randn({size.sequence, size.hidden}))) {
    nn::init::normal_(token_->weight, 0.0, 0.02);
    work = 2.0 * static_cast<double>(size.sequence * size.hidden);
  }
  at::Tensor forward(const at::Tensor& input) override {
    return run(token_, input) + position_.slice(0, 0, input.size(1));
  }

 private:
  nn::Embedding token_;
  at::Tensor position_;
};

class TransformerBlock final : public Block {
 public:
  explicit TransformerBlock(const GptSize& s)
      : heads_(s.heads),
        norm1_(register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({s.hidden})))),
        qkv_(register_module("qkv", Linear(s.hidden, 3 * s.hidden))),
        out_(register_module("out", Linear(s.hidden, s.hidden))),
        norm2_(register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({s.hidden})))),
        up_(register_module("up", Linear(s.hidden, 4 * s.hidden))),
        down_(register_module("down", Linear(4 * s.hidden, s.hidden))) {
    const auto per_token =
        12.0 * flops_of_linear(s.hidden, s.hidden) + 4.0 * static_cast<double>(s.sequence * s.hidden);
    work = static_cast<double>(s.sequence) * per_token;
  }
  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor attended = input + run(out_, attention(run(norm1_, input)));
    return attended + run(down_, at::gelu(run(up_, run(norm2_, attended))));
  }

 private:
  at::Tensor attention(const at::Tensor& input) {
    const auto batch = input.size(0);
    const auto sequence = input.size(1);
    const auto hidden = input.size(2);
    const auto parts =
        run(qkv_, input).view({batch, sequence, 3, heads_, hidden / heads_}).permute({2, 0, 3, 1, 4}).unbind(0);
    const at::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, 0.0, true);
    return mixed.transpose(1, 2).reshape({batch, sequence, hidden});
  }

  std::int64_t heads_;
  nn::LayerNorm norm1_;
  Linear qkv_;
  Linear out_;
  nn::LayerNorm norm2_;
  Linear up_;
  Linear down_;
};

class TokenHead final : public Block {
 public:
  TokenHead(const GptSize& size, std::int64_t vocabulary)
      : norm_(register_module("norm", nn::LayerNorm(nn::LayerNormOptions({size.hidden})))),
        linear_(register_module("linear", Linear(nn::LinearOptions(size.hidden, vocabulary).bias(false)))) {
    work = static_cast<double>(size.sequence) * flops_of_linear(size.hidden, vocabulary);
  }
  at::Tensor forward(const at::Tensor& input) override {
    return run(linear_, run(norm_, input)).flatten(0, 1);  // one row of logits per token, as labels are
  }

 private:
  nn::LayerNorm norm_;
  Linear linear_;
};

Result<std::shared_ptr<Model>> build_gpt(const ModelOptions& options, const SampleShape& shape) {
  const GptSize size = gpt_size(options);
  if (size.hidden % size.heads != 0) {
    return fail(ErrorKind::usage, format("--hidden {} cannot be divided over --heads {}", size.hidden, size.heads));
  }
  auto model = std::make_shared<Model>();
  model->add("embedding", std::make_shared<TokenEmbedding>(shape.classes, size));
  for (std::int64_t layer = 0; layer < size.layers; ++layer) {
    model->add(format("layer{}", layer), std::make_shared<TransformerBlock>(size));
  }
  model->add("head", std::make_shared<TokenHead>(size, shape.classes));
  return model;
}

Result<std::shared_ptr<Model>> build_kind(const ModelOptions& options, const SampleShape& shape) {
  switch (options.kind) {
    case ModelKind::mlp:
      return build_mlp(options, shape);
    case ModelKind::resnet18:
      return build_resnet(options, shape, {{2, 2, 2, 2}, false});
    case ModelKind::resnet50:
      return build_resnet(options, shape, {{3, 4, 6, 3}, true});
    case ModelKind::resnet152:
      return build_resnet(options, shape, {{3, 8, 36, 3}, true});
    case ModelKind::gpt:
      return build_gpt(options, shape);
  }
  RS_CHECK(!"a model kind without a builder");
  return std::shared_ptr<Model>{};
}

}  // namespace

void Model::add(const std::string& name, std::shared_ptr<Block> block) {
  blocks_.push_back(register_module(name, std::move(block)));
}
void Model::add_auxiliary(std::shared_ptr<Block> head) { auxiliary_ = register_module("auxiliary", std::move(head)); }

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& parameter : parameters()) count += parameter.numel();
  return count;
}

Model::Output Model::forward(const at::Tensor& input, bool with_auxiliary,
                             const std::function<void(std::size_t)>& after_block) {
  Output output{input, {}};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (with_auxiliary && auxiliary_ && i + 1 == blocks_.size()) output.auxiliary = run(auxiliary_, output.logits);
    output.logits = run(blocks_[i], output.logits);
    after_block(i);
  }
  return output;
}

std::vector<double> work_of_blocks(const Model& model) {
  std::vector<double> work;
  for (const auto& block : model.blocks()) work.push_back(block->work);
  return work;
}

std::int64_t layers_of(const ModelOptions& options) {
  if (options.layers > 0) return options.layers;
  const bool tiny = options.scale == Scale::tiny;
  switch (options.kind) {
    case ModelKind::mlp:
      return tiny ? 4 : 8;
    case ModelKind::gpt:
      return tiny ? 2 : 6;
    case ModelKind::resnet18:
    case ModelKind::resnet50:
    case ModelKind::resnet152:
      return 0;
  }
  return 0;
}

ModelOptions deep_enough(ModelOptions options, std::int64_t parts) {
  if (options.layers == 0 && layers_of(options) > 0) options.layers = std::max(layers_of(options), 2 * parts);
  return options;
}

SampleShape fitting_shape(const ModelOptions& options) {
  switch (options.kind) {
    case ModelKind::mlp:
      return {.channels = 1, .height = 28, .width = 28, .classes = 10};
    case ModelKind::resnet18:
    case ModelKind::resnet50:
      return {.channels = 3, .height = 32, .width = 32, .classes = 10};
    case ModelKind::resnet152:
      return {.channels = 3, .height = 32, .width = 32, .classes = 100};
    case ModelKind::gpt:
      return {.sequence = gpt_size(options).sequence, .classes = 256};
  }
  return {};
}

Result<std::shared_ptr<Model>> build_model(const ModelOptions& options, const SampleShape& shape, DataType dtype,
                                           std::uint64_t seed) {
  torch::manual_seed(seed);
  RS_TRY(auto model, build_kind(options, shape));
  model->to(dtype == DataType::f64 ? torch::kDouble : torch::kFloat);
  return model;
}

}  // namespace rankscope::trainer
