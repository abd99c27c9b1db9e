// What models of images are made of.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/layers/batch_norm.h"
#include "engine/layers/layers.h"
#include "engine/models/model.h"
#include "engine/tensor/spatial_layers.h"
#include "engine/tensor/tiles.h"

namespace rankscope::trainer {

/// Rows and columns of the activations as they flow through a model, for counting work.
struct Extent {
  std::int64_t rows;
  std::int64_t columns;
  [[nodiscard]] Extent after(std::int64_t stride) const {
    return {(rows - 1) / stride + 1, (columns - 1) / stride + 1};
  }
};

/// Odd kernels, padded so that an image keeps its size but for the stride.
struct ConvShape {
  std::int64_t in;
  std::int64_t out;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  std::int64_t groups = 1;
};

/// Drawn as He et al. 2015 do for ReLU.
[[nodiscard]] Conv2d make_conv(const ConvShape& shape);
/// FLOPs for one sample; the extent is that of the output.
[[nodiscard]] double flops_of_conv(const ConvShape& shape, Extent output);

/// Convolution, then batch normalization.
class ConvNorm final : public Block {
 public:
  ConvNorm(const ConvShape& shape, Extent output, double eps = 1e-5);
  at::Tensor forward(const at::Tensor& input) override;

 private:
  Conv2d conv_;
  BatchNorm2d norm_;
};

/// The last link: mean over the image, then a linear layer.
class PooledHead final : public Block {
 public:
  PooledHead(std::int64_t in, std::int64_t classes);
  at::Tensor forward(const at::Tensor& input) override;

 private:
  ImageMean mean_;
  Linear linear_;
};

/// From here on all layers of the model work on tiles; BatchNorm takes its statistics from all of them. `samples` are
/// whole images, for the extents at each layer. Refuses what cannot be cut, with the numbers.
[[nodiscard]] Result<void> spread_over_tiles(Model& model, const at::Tensor& samples,
                                             const std::shared_ptr<const Tiles>& tiles);

}  // namespace rankscope::trainer
