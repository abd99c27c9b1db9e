// Layers whose backward can be cut in two: the gradient of the input now, that of the weight later, so
// that a zero-bubble schedule can fill idle time with it. Gradients of biases, norms and embeddings come with the
// first. In mixed precision (precision.h) they cast their weight where they use it, in forward and again in backward:
// nobody keeps a copy of it in bf16.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/libtorch.h"

namespace rankscope::trainer {

/// Weight gradients that a backward has put off.
class WeightQueue {
 public:
  void add(std::function<void()> gradient) { later_.push_back(std::move(gradient)); }
  /// Adds all of them to the weights' gradients, in the order in which backward came by.
  void run();

 private:
  std::vector<std::function<void()>> later_;
};

/// While one exists, forwards make layers that can be cut in two, and backwards put off the weight gradients of such
/// layers into the queue.
class CutBackward {
 public:
  explicit CutBackward(WeightQueue& queue);
  CutBackward(const CutBackward&) = delete;
  CutBackward& operator=(const CutBackward&) = delete;
  ~CutBackward();

 private:
  WeightQueue* before_;
};

/// In a backward: the gradient of a weight for autograd, or nothing where it is put off; then it is added later.
[[nodiscard]] at::Tensor weight_gradient(const at::Tensor& weight, std::function<at::Tensor()> gradient);

struct LinearImpl : torch::nn::LinearImpl {
  using torch::nn::LinearImpl::LinearImpl;
  at::Tensor forward(const at::Tensor& input);
  at::Tensor without_bias(const at::Tensor& input);
};
TORCH_MODULE(Linear);

/// Rows, then columns.
using Padding = std::array<std::int64_t, 2>;

/// Whether layers have a backward of ours at present: that is cut, or casts its weight.
[[nodiscard]] bool has_own_backward();
/// A convolution for spatial_layers.h, where they have.
[[nodiscard]] at::Tensor own_convolution(const at::Tensor& input, const at::Tensor& weight, std::int64_t stride,
                                         const Padding& padding, std::int64_t groups);

}  // namespace rankscope::trainer
