#include "engine/model.h"

#include <algorithm>
#include <array>

#include "engine/gpt.h"
#include "engine/layers.h"
#include "engine/module_scope.h"
#include "engine/tensor_layers.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

namespace nn = torch::nn;

class LinearBlock final : public Block {
 public:
  LinearBlock(std::int64_t in, std::int64_t out, bool activation)
      : LinearBlock({in, out}, activation, LinearShare::whole, {}, "") {}
  LinearBlock(const nn::LinearOptions& shape, bool activation, LinearShare share, const TensorSplit& split,
              const std::string& name)
      : linear_(register_module("linear", TensorLinear(shape, share, split_layer(split, name + ".linear")))),
        activation_(activation) {
    work = flops_of_linear(shape.in_features(), shape.out_features());
    if (share != LinearShare::whole) work /= static_cast<double>(split.parts());
    keep_share(*this, "linear", linear_, split);
  }
  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor output = run(linear_, input.flatten(1));
    return activation_ ? at::relu(output) : output;
  }

 private:
  TensorLinear linear_;
  bool activation_;
};

// Layers are split in pairs: the first leaves each rank a part of its output, the second takes that part and sums. A
// last layer without a partner is whole.
LinearShare share_of(std::int64_t layer, std::int64_t layers) {
  if (layer % 2 == 1) return LinearShare::row;
  return layer + 1 < layers ? LinearShare::column : LinearShare::whole;
}

std::shared_ptr<Model> build_mlp(const ModelOptions& options, const SampleShape& shape, const TensorSplit& split) {
  const std::int64_t hidden = mlp_width(options);
  const std::int64_t layers = layers_of(options);
  auto model = std::make_shared<Model>();
  std::int64_t width = shape.values();
  for (std::int64_t layer = 0; layer <= layers; ++layer) {
    const bool last = layer == layers;
    const std::string name = last ? "head" : format("layer{}", layer);
    const nn::LinearOptions size{width, last ? shape.classes : hidden};
    model->add(name, std::make_shared<LinearBlock>(size, !last, share_of(layer, layers + 1), split, name));
    width = hidden;
  }
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

Result<std::shared_ptr<Model>> build_kind(const ModelOptions& options, const SampleShape& shape,
                                          const TensorSplit& split) {
  const bool can_be_split = options.kind == ModelKind::mlp || options.kind == ModelKind::gpt;
  RS_CHECK(can_be_split || !split.is_split());
  switch (options.kind) {
    case ModelKind::mlp:
      return build_mlp(options, shape, split);
    case ModelKind::resnet18:
      return build_resnet(options, shape, {{2, 2, 2, 2}, false});
    case ModelKind::resnet50:
      return build_resnet(options, shape, {{3, 4, 6, 3}, true});
    case ModelKind::resnet152:
      return build_resnet(options, shape, {{3, 8, 36, 3}, true});
    case ModelKind::gpt:
      return build_gpt(options, shape, split);
  }
  RS_CHECK(!"a model kind without a builder");
  return std::shared_ptr<Model>{};
}

}  // namespace

double flops_of_linear(std::int64_t in, std::int64_t out) { return 2.0 * static_cast<double>(in * out); }

void Block::keep(const std::string& path, const TensorPart& part) {
  at::Tensor parameter = named_parameters()[path];
  const auto dimension = static_cast<std::int64_t>(part.dimension);
  std::vector<at::Tensor> kept;
  for (const Stretch& stretch : stretches_of(part, parameter.size(dimension))) {
    kept.push_back(parameter.detach().narrow(dimension, stretch.in_whole, stretch.length));
  }
  parameter.set_data(at::cat(kept, dimension));
  parts_[path] = part;
}

TensorPart Block::part_of(const std::string& path) const {
  const auto found = parts_.find(path);
  return found == parts_.end() ? TensorPart{} : found->second;
}

Loss cross_entropy(const at::Tensor& logits, const at::Tensor& labels) {
  at::Tensor mean = at::cross_entropy_loss(logits, labels);
  const torch::NoGradGuard no_grad;
  return {std::move(mean), logits.argmax(1).eq(labels).sum()};
}

void Model::add(const std::string& name, std::shared_ptr<Block> block) {
  names_.push_back(name);
  blocks_.push_back(register_module(name, std::move(block)));
}
void Model::add_auxiliary(std::shared_ptr<Block> head) { auxiliary_ = register_module("auxiliary", std::move(head)); }

std::int64_t Model::parameter_count() const {
  std::int64_t count = 0;
  for (const auto& parameter : named_parameters()) count += parameter.value().numel() * part_of(parameter.key()).parts;
  return count;
}

TensorPart Model::part_of(const std::string& parameter) const {
  const auto dot = parameter.find('.');
  const auto name = std::ranges::find(names_, parameter.substr(0, dot));
  if (name == names_.end()) return {};  // of the auxiliary head
  return blocks_[static_cast<std::size_t>(name - names_.begin())]->part_of(parameter.substr(dot + 1));
}

std::vector<at::Tensor> Model::with_gradient_terms() const {
  std::vector<at::Tensor> found;
  for (const auto& block : blocks_) {
    const auto parameters = block->named_parameters();
    for (const auto& path : block->gradient_terms()) found.push_back(parameters[path]);
  }
  return found;
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
      return {.sequence = gpt_size(options).sequence, .classes = gpt_vocabulary};
  }
  return {};
}

Result<std::shared_ptr<Model>> build_model(const ModelOptions& options, const SampleShape& shape, DataType dtype,
                                           std::uint64_t seed, const TensorSplit& split) {
  torch::manual_seed(seed);
  RS_TRY(auto model, build_kind(options, shape, split));
  model->to(dtype == DataType::f64 ? torch::kDouble : torch::kFloat);
  return model;
}

}  // namespace rankscope::trainer
