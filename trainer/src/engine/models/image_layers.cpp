#include "engine/models/image_layers.h"

#include "engine/layers/module_scope.h"

namespace rankscope::trainer {
namespace {

namespace nn = torch::nn;

/// Whole images once through the model, to learn the extents at each layer; the statistics stay as they are.
void look_at_extents(Model& model, const at::Tensor& samples) {
  const torch::NoGradGuard no_grad;
  model.eval();
  model.forward(samples, Auxiliary::left_out, [](std::size_t) {});
  model.train();
}

Result<void> check_layer(const std::string& name, const SpatialLayer& layer, const Tiles& tiles) {
  for (const std::int64_t dimension : {row_dimension, column_dimension}) {
    const bool is_row = dimension == row_dimension;
    RS_TRY_VOID(check_tiling({.name = name,
                              .direction = is_row ? "rows" : "columns",
                              .window = layer.window(),
                              .extent = is_row ? layer.rows_seen() : layer.columns_seen(),
                              .tiles = tiles.count(dimension)}));
  }
  return {};
}

}  // namespace

Conv2d make_conv(const ConvShape& s) {
  Conv2d conv{
      nn::Conv2dOptions(s.in, s.out, s.kernel).stride(s.stride).padding(s.kernel / 2).groups(s.groups).bias(false)};
  nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  return conv;
}

double flops_of_conv(const ConvShape& s, Extent output) {
  return 2.0 * static_cast<double>(s.in) / static_cast<double>(s.groups) *
         static_cast<double>(s.out * s.kernel * s.kernel * output.rows * output.columns);
}

ConvNorm::ConvNorm(const ConvShape& shape, Extent output, double eps)
    : conv_(register_module("conv", make_conv(shape))),
      norm_(register_module("norm", BatchNorm2d(nn::BatchNormOptions(shape.out).eps(eps)))) {
  work = flops_of_conv(shape, output);
}

at::Tensor ConvNorm::forward(const at::Tensor& input) { return run(norm_, run(conv_, input)); }

PooledHead::PooledHead(std::int64_t in, std::int64_t classes)
    : mean_(register_module("mean", ImageMean())), linear_(register_module("linear", Linear(in, classes))) {
  work = 2.0 * static_cast<double>(in * classes);
}

at::Tensor PooledHead::forward(const at::Tensor& input) { return run(linear_, run(mean_, input)); }

Result<void> spread_over_tiles(Model& model, const at::Tensor& samples, const std::shared_ptr<const Tiles>& tiles) {
  look_at_extents(model, samples);
  for (const auto& entry : model.named_modules("", /*include_self=*/false)) {
    torch::nn::Module& module = *entry.value();
    if (auto* spatial = dynamic_cast<SpatialLayer*>(&module)) {
      RS_TRY_VOID(check_layer(entry.key(), *spatial, *tiles));
      spatial->spread(tiles, entry.key());
    }
    if (auto* norm = dynamic_cast<BatchNorm2dImpl*>(&module)) norm->synchronize(tiles->group(), entry.key());
  }
  return {};
}

}  // namespace rankscope::trainer
