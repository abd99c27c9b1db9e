#include "engine/models/kinds.h"

#include <array>
#include <vector>

#include "engine/layers/module_scope.h"
#include "engine/models/image_layers.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

namespace nn = torch::nn;

class Stem final : public Block {
 public:
  Stem(const ConvShape& shape, Extent output)
      : conv_(register_module("conv", std::make_shared<ConvNorm>(shape, output))) {
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

struct ResNetPlan {
  std::array<int, 4> blocks;
  bool bottleneck;
};

// CIFAR form of He et al. 2015: a 3x3 stem of stride 1 and no pooling after it, since the images are small.
std::shared_ptr<Model> build_resnet(const ModelOptions& options, const SampleShape& shape, const ResNetPlan& plan) {
  const std::int64_t base = options.scale == Scale::tiny ? 8 : 64;
  auto model = std::make_shared<Model>();
  Extent extent{shape.height, shape.width};
  model->add("stem", std::make_shared<Stem>(ConvShape{shape.channels, base}, extent));
  std::int64_t channels = base;
  for (std::size_t stage = 0; stage < plan.blocks.size(); ++stage) {
    const std::int64_t width = base << stage;
    const std::int64_t out = plan.bottleneck ? 4 * width : width;
    for (int index = 0; index < plan.blocks[stage]; ++index) {
      const std::int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      const std::vector<ConvShape> convs =
          plan.bottleneck ? std::vector<ConvShape>{{channels, width, 1}, {width, width, 3, stride}, {width, out, 1}}
                          : std::vector<ConvShape>{{channels, width, 3, stride}, {width, out}};
      model->add(format("stage{}_{}", stage, index), std::make_shared<Residual>(convs, extent));
      extent = extent.after(stride);
      channels = out;
    }
  }
  model->add("head", std::make_shared<PooledHead>(channels, shape.classes));
  return model;
}

class PlainConv final : public Block {
 public:
  PlainConv(const ConvShape& shape, Extent output) : conv_(register_module("conv", make_conv(shape))) {
    work = flops_of_conv(shape, output);
  }
  at::Tensor forward(const at::Tensor& input) override { return run(conv_, input); }

 private:
  Conv2d conv_;
};

/// Normalization and activation come before each convolution (Zagoruyko and Komodakis 2016).
class WideResidual final : public Block {
 public:
  WideResidual(const ConvShape& first, Extent input)
      : norm0_(register_module("norm0", BatchNorm2d(first.in))),
        conv0_(register_module("conv0", make_conv(first))),
        norm1_(register_module("norm1", BatchNorm2d(first.out))),
        conv1_(register_module("conv1", make_conv({first.out, first.out}))) {
    const Extent output = input.after(first.stride);
    work = flops_of_conv(first, output) + flops_of_conv({first.out, first.out}, output);
    if (first.in == first.out && first.stride == 1) return;
    const ConvShape shortcut{first.in, first.out, 1, first.stride};
    shortcut_ = register_module("shortcut", make_conv(shortcut));
    work += flops_of_conv(shortcut, output);
  }
  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor active = at::relu(run(norm0_, input));
    const at::Tensor output = run(conv1_, at::relu(run(norm1_, run(conv0_, active))));
    return output + (shortcut_ ? run(shortcut_, active) : input);
  }

 private:
  BatchNorm2d norm0_;
  Conv2d conv0_;
  BatchNorm2d norm1_;
  Conv2d conv1_;
  Conv2d shortcut_{nullptr};
};

/// The normalization that the last residual leaves open, then the head.
class WideHead final : public Block {
 public:
  WideHead(std::int64_t in, std::int64_t classes)
      : norm_(register_module("norm", BatchNorm2d(in))),
        head_(register_module("head", std::make_shared<PooledHead>(in, classes))) {
    work = head_->work;
  }
  at::Tensor forward(const at::Tensor& input) override { return run(head_, at::relu(run(norm_, input))); }

 private:
  BatchNorm2d norm_;
  std::shared_ptr<PooledHead> head_;
};

// WRN-28-10: 28 layers, 10 times as wide. Tiny is WRN-10-1.
std::shared_ptr<Model> build_wide_resnet(const ModelOptions& options, const SampleShape& shape) {
  const bool tiny = options.scale == Scale::tiny;
  const std::int64_t widening = tiny ? 1 : 10;
  const int blocks = tiny ? 1 : 4;  // (layers - 4) / 6
  auto model = std::make_shared<Model>();
  Extent extent{shape.height, shape.width};
  std::int64_t channels = 16;
  model->add("stem", std::make_shared<PlainConv>(ConvShape{shape.channels, channels}, extent));
  for (int stage = 0; stage < 3; ++stage) {
    const std::int64_t out = (16 << stage) * widening;
    for (int index = 0; index < blocks; ++index) {
      const std::int64_t stride = stage > 0 && index == 0 ? 2 : 1;
      model->add(format("stage{}_{}", stage, index),
                 std::make_shared<WideResidual>(ConvShape{channels, out, 3, stride}, extent));
      extent = extent.after(stride);
      channels = out;
    }
  }
  model->add("head", std::make_shared<WideHead>(channels, shape.classes));
  return model;
}

/// Convolution, normalization, activation and a pooling that halves the image.
class ConvPool final : public Block {
 public:
  ConvPool(const ConvShape& shape, Extent input)
      : conv_(register_module("conv", std::make_shared<ConvNorm>(shape, input))),
        pool_(register_module("pool", MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)))) {
    work = conv_->work;
  }
  at::Tensor forward(const at::Tensor& input) override { return run(pool_, at::relu(run(conv_, input))); }

 private:
  std::shared_ptr<ConvNorm> conv_;
  MaxPool2d pool_;
};

std::shared_ptr<Model> build_cnn(const ModelOptions& options, const SampleShape& shape) {
  const auto widths =
      options.scale == Scale::tiny ? std::vector<std::int64_t>{16, 32} : std::vector<std::int64_t>{128, 256, 512};
  auto model = std::make_shared<Model>();
  Extent extent{shape.height, shape.width};
  std::int64_t channels = shape.channels;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    model->add(format("conv{}", i), std::make_shared<ConvPool>(ConvShape{channels, widths[i]}, extent));
    extent = extent.after(2);
    channels = widths[i];
  }
  model->add("head", std::make_shared<PooledHead>(channels, shape.classes));
  return model;
}

}  // namespace

std::shared_ptr<Model> build_image_model(const ModelOptions& options, const SampleShape& shape) {
  switch (options.kind) {
    case ModelKind::cnn:
      return build_cnn(options, shape);
    case ModelKind::resnet18:
      return build_resnet(options, shape, {{2, 2, 2, 2}, false});
    case ModelKind::resnet50:
      return build_resnet(options, shape, {{3, 4, 6, 3}, true});
    case ModelKind::resnet152:
      return build_resnet(options, shape, {{3, 8, 36, 3}, true});
    case ModelKind::wide_resnet:
      return build_wide_resnet(options, shape);
    case ModelKind::efficientnet:
      return build_efficientnet(options, shape);
    case ModelKind::mlp:
    case ModelKind::gpt:
      break;
  }
  RS_CHECK(!"a model of images without a builder");
  return nullptr;
}

}  // namespace rankscope::trainer
