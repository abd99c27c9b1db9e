#include "engine/models/model.h"

#include <algorithm>

#include "engine/layers/layers.h"
#include "engine/layers/module_scope.h"
#include "engine/layers/precision.h"
#include "engine/models/kinds.h"
#include "engine/tensor/tensor_layers.h"
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

Result<std::shared_ptr<Model>> build_kind(const ModelOptions& options, const SampleShape& shape,
                                          const TensorSplit& split) {
  RS_CHECK(!is_convolutional(options.kind) || !split.is_split());
  if (is_convolutional(options.kind)) return build_image_model(options, shape);
  return options.kind == ModelKind::gpt ? build_gpt(options, shape, split) : build_mlp(options, shape, split);
}

// Each sample counts the same, however many tokens it has: so the mean does not depend on who has which samples.
Loss cross_entropy_of_ragged(const at::Tensor& logits, const at::Tensor& labels) {
  const at::Tensor flat = labels.flatten();
  const at::Tensor tokens = labels.ne(no_label).sum(1, true);
  const at::Tensor losses = at::cross_entropy_loss(logits, flat, {}, at::Reduction::None, no_label).view_as(labels);
  at::Tensor mean = (losses / tokens).sum(1).mean();
  const torch::NoGradGuard no_grad;
  return {std::move(mean), (logits.argmax(1).eq(flat).view_as(labels) / tokens).sum()};
}

}  // namespace

double flops_of_linear(std::int64_t in, std::int64_t out) { return 2.0 * static_cast<double>(in * out); }

Loss cross_entropy(const at::Tensor& output, const at::Tensor& labels) {
  const at::Tensor logits = in_full(output);
  if (labels.dim() == 2) return cross_entropy_of_ragged(logits, labels);
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

Model::Output Model::forward(const at::Tensor& input, Auxiliary head,
                             const std::function<void(std::size_t)>& after_block) {
  const MixedPrecision precision{type_};
  Output output{in_full(input), {}};
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    if (!devices_.empty()) output.logits = output.logits.to(devices_[i]);
    if (head == Auxiliary::computed && auxiliary_ && i + 1 == blocks_.size())
      output.auxiliary = run(auxiliary_, output.logits);
    output.logits = run(blocks_[i], output.logits);
    after_block(i);
  }
  output.logits = lowered(output.logits);
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
    case ModelKind::wide_resnet:  // FashionMNIST
      return {.channels = 1, .height = 28, .width = 28, .classes = 10};
    case ModelKind::cnn:
    case ModelKind::resnet18:
    case ModelKind::resnet50:
      return {.channels = 3, .height = 32, .width = 32, .classes = 10};
    case ModelKind::resnet152:
    case ModelKind::efficientnet:
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
  model->to(torch_type(dtype));
  model->compute_in(dtype);
  return model;
}

}  // namespace rankscope::trainer
