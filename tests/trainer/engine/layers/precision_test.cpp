// Mixed precision, layer by layer.
#include "engine/layers/precision.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/layers/layers.h"
#include "engine/tensor/spatial_layers.h"
#include "engine/training/observers.h"

namespace rankscope::trainer {
namespace {

constexpr std::int64_t width = 256;
constexpr std::int64_t weight_elements = width * width;

/// What autograd keeps of a forward.
template <class Layer>
std::int64_t bytes_kept(Layer& layer, const at::Tensor& input, DataType type) {
  const MemoryObserver memory{std::nullopt};
  at::Tensor output;
  {
    const MixedPrecision precision{type};
    output = layer->forward(input);
  }
  EXPECT_GT(memory.allocated_bytes(), 0) << "the output";
  return memory.allocated_bytes();
}

TEST(MixedPrecision, KeepsNoWeightInBf16) {
  Linear linear{width, width};
  EXPECT_LT(bytes_kept(linear, at::rand({1, width}).requires_grad_(), DataType::bf16), weight_elements / 8);
  Conv2d convolution{torch::nn::Conv2dOptions(64, 64, 3).padding(1).bias(false)};
  EXPECT_LT(bytes_kept(convolution, at::rand({1, 64, 4, 4}).requires_grad_(), DataType::bf16), 64 * 64 * 9 / 2);
}

TEST(MixedPrecision, RoundsProductsAndGivesGradientsInF32) {
  torch::manual_seed(1);
  Linear linear{width, width};
  const at::Tensor input = at::rand({4, width});
  const at::Tensor exact = linear->forward(input);
  at::Tensor rounded;
  {
    const MixedPrecision precision{DataType::bf16};
    rounded = linear->forward(input);
  }
  EXPECT_EQ(rounded.scalar_type(), at::kBFloat16);
  EXPECT_FALSE(at::equal(in_full(rounded), exact));
  EXPECT_TRUE(at::allclose(in_full(rounded), exact, 0, 0.02));
  in_full(rounded).sum().backward();
  for (const at::Tensor& parameter : linear->parameters()) EXPECT_EQ(parameter.grad().scalar_type(), at::kFloat);
}

// The half that is put off comes to the same gradient.
TEST(MixedPrecision, PutsOffGradientsOfWeights) {
  torch::manual_seed(1);
  Linear linear{8, 8};
  const at::Tensor input = at::rand({4, 8});
  const MixedPrecision precision{DataType::bf16};
  in_full(linear->forward(input)).square().sum().backward();
  const at::Tensor at_once = linear->weight.grad().clone();
  linear->zero_grad();
  WeightQueue later;
  {
    const CutBackward cut{later};
    in_full(linear->forward(input)).square().sum().backward();
  }
  EXPECT_FALSE(linear->weight.grad().defined());
  later.run();
  EXPECT_EQ(linear->weight.grad().scalar_type(), at::kFloat);
  EXPECT_TRUE(at::equal(linear->weight.grad(), at_once));
}

TEST(MixedPrecision, IsOfOneThreadAndEndsWithItsObject) {
  {
    const MixedPrecision precision{DataType::bf16};
    const MixedPrecision inner{DataType::f32};
    EXPECT_TRUE(is_mixed());
    bool elsewhere = true;
    std::jthread{[&] { elsewhere = is_mixed(); }}.join();
    EXPECT_FALSE(elsewhere);
  }
  EXPECT_FALSE(is_mixed());
  const MixedPrecision exact{DataType::f64};
  EXPECT_FALSE(is_mixed());
}

}  // namespace
}  // namespace rankscope::trainer
