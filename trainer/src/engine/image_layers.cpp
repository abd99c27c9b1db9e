#include "engine/image_layers.h"

#include "engine/module_scope.h"

namespace rankscope::trainer {

namespace nn = torch::nn;

Conv2d make_conv(const ConvShape& s) {
  Conv2d conv{
      nn::Conv2dOptions(s.in, s.out, s.kernel).stride(s.stride).padding(s.kernel / 2).groups(s.groups).bias(false)};
  nn::init::kaiming_normal_(conv->weight, 0, torch::kFanOut, torch::kReLU);
  return conv;
}

double flops_of_conv(const ConvShape& s, Extent output) {
  return 2.0 * static_cast<double>(s.in / s.groups * s.out * s.kernel * s.kernel * output.rows * output.columns);
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

}  // namespace rankscope::trainer
