// Layers whose backward can be cut in two (trainer.md 3.1): the gradient of the input now, that of the weight later, so
// that a zero-bubble schedule can fill idle time with it. Gradients of biases, norms and embeddings come with the
// first.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/libtorch.h"
#include "rankscope/trainer/tile_plan.h"

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

/// While one exists, forwards on this thread make layers that can be cut in two, and backwards put off the weight
/// gradients of such layers into the queue.
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

/// A convolution for spatial_layers.h, while is_backward_cut().
[[nodiscard]] bool is_backward_cut();
[[nodiscard]] at::Tensor cut_convolution(const at::Tensor& input, const at::Tensor& weight, const Window& window,
                                         std::int64_t groups);

}  // namespace rankscope::trainer
