#include "engine/models/kinds.h"

#include <array>
#include <span>
#include <vector>

#include "engine/layers/module_scope.h"
#include "engine/models/image_layers.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr double norm_eps = 1e-3;

/// A row of the paper's table 4, for size L.
struct StagePlan {
  bool fused;  ///< expansion and depthwise convolution are one convolution
  std::int64_t expansion;
  std::int64_t stride;  ///< of its first block
  std::int64_t out;
  int blocks;
};
constexpr std::array large_stages{
    StagePlan{true, 1, 1, 32, 4},    StagePlan{true, 4, 2, 64, 7},    StagePlan{true, 4, 2, 96, 7},
    StagePlan{false, 4, 2, 192, 10}, StagePlan{false, 6, 1, 224, 19}, StagePlan{false, 6, 2, 384, 25},
    StagePlan{false, 6, 1, 640, 7},
};
// The same kinds of blocks in a model for a CPU.
constexpr std::array tiny_stages{StagePlan{true, 1, 1, 8, 1}, StagePlan{true, 4, 2, 16, 1},
                                 StagePlan{false, 4, 2, 24, 2}};

/// Convolution, normalization, SiLU.
class ActiveConv final : public Block {
 public:
  ActiveConv(const ConvShape& shape, Extent output)
      : conv_(register_module("conv", std::make_shared<ConvNorm>(shape, output, norm_eps))) {
    work = conv_->work;
  }
  at::Tensor forward(const at::Tensor& input) override { return at::silu(run(conv_, input)); }

 private:
  std::shared_ptr<ConvNorm> conv_;
};

/// Weighs channels by what the whole image has of them.
class SqueezeExcite final : public Block {
 public:
  SqueezeExcite(std::int64_t channels, std::int64_t squeezed)
      : mean_(register_module("mean", ImageMean(MeanUse::on_tiles))),
        squeeze_(register_module("squeeze", Linear(channels, squeezed))),
        excite_(register_module("excite", Linear(squeezed, channels))) {
    work = 4.0 * static_cast<double>(channels * squeezed);
  }
  at::Tensor forward(const at::Tensor& input) override {
    const at::Tensor weights = at::sigmoid(run(excite_, at::silu(run(squeeze_, run(mean_, input)))));
    return input * weights.unsqueeze(-1).unsqueeze(-1);
  }

 private:
  ImageMean mean_;
  Linear squeeze_;
  Linear excite_;
};

/// Widens, convolves and narrows again; added to its input where both have one shape.
class InvertedResidual final : public Block {
 public:
  InvertedResidual(const StagePlan& plan, std::int64_t in, std::int64_t stride, Extent input) {
    const std::int64_t wide = in * plan.expansion;
    const Extent output = input.after(stride);
    adds_ = in == plan.out && stride == 1;
    if (plan.fused) {
      const std::int64_t middle = plan.expansion == 1 ? plan.out : wide;
      append("expand", std::make_shared<ActiveConv>(ConvShape{in, middle, 3, stride}, output));
    } else {
      append("expand", std::make_shared<ActiveConv>(ConvShape{in, wide, 1}, input));
      append("depthwise", std::make_shared<ActiveConv>(ConvShape{wide, wide, 3, stride, wide}, output));
      append("weigh", std::make_shared<SqueezeExcite>(wide, in / 4));
    }
    if (!plan.fused || plan.expansion > 1) {
      append("project", std::make_shared<ConvNorm>(ConvShape{wide, plan.out, 1}, output, norm_eps));
    }
  }
  at::Tensor forward(const at::Tensor& input) override {
    at::Tensor output = input;
    for (auto& part : path_) output = run(part, output);
    return adds_ ? output + input : output;
  }

 private:
  void append(const std::string& name, std::shared_ptr<Block> part) {
    work += part->work;
    path_.push_back(register_module(name, std::move(part)));
  }

  std::vector<std::shared_ptr<Block>> path_;
  bool adds_ = false;
};

/// A second classifier beside the first; it counts 0.3 in the logits.
class TwoHeads final : public Block {
 public:
  TwoHeads(std::int64_t in, std::int64_t classes)
      : main_(register_module("main", std::make_shared<PooledHead>(in, classes))),
        auxiliary_(register_module("auxiliary", std::make_shared<PooledHead>(in, classes))) {
    work = main_->work + auxiliary_->work;
  }
  at::Tensor forward(const at::Tensor& input) override { return run(main_, input) + 0.3 * run(auxiliary_, input); }

 private:
  std::shared_ptr<PooledHead> main_;
  std::shared_ptr<PooledHead> auxiliary_;
};

}  // namespace

std::shared_ptr<Model> build_efficientnet(const ModelOptions& options, const SampleShape& shape) {
  const bool small = options.scale == Scale::tiny;
  const auto stages = small ? std::span<const StagePlan>{tiny_stages} : std::span<const StagePlan>{large_stages};
  std::int64_t channels = small ? 8 : 32;
  const std::int64_t last = small ? 64 : 1280;
  auto model = std::make_shared<Model>();
  Extent extent = Extent{shape.height, shape.width}.after(2);
  model->add("stem", std::make_shared<ActiveConv>(ConvShape{shape.channels, channels, 3, 2}, extent));
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    const StagePlan& plan = stages[stage];
    for (int index = 0; index < plan.blocks; ++index) {
      const std::int64_t stride = index == 0 ? plan.stride : 1;
      model->add(format("stage{}_{}", stage, index),
                 std::make_shared<InvertedResidual>(plan, channels, stride, extent));
      extent = extent.after(stride);
      channels = plan.out;
    }
  }
  model->add("top", std::make_shared<ActiveConv>(ConvShape{channels, last, 1}, extent));
  model->add("head", std::make_shared<TwoHeads>(last, shape.classes));
  return model;
}

}  // namespace rankscope::trainer
