// Layers of images; each works on whole images or, after spread_over_tiles (models/image_layers.h), on tiles.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/libtorch.h"
#include "rankscope/trainer/layout/tile_plan.h"

namespace rankscope::trainer {

class Tiles;

/// What they have in common. Windows are square, as all of ours are.
class SpatialLayer {
 public:
  virtual ~SpatialLayer() = default;
  [[nodiscard]] virtual Window window() const = 0;

  /// Works on tiles from now on; `label` begins those of what it sends.
  void spread(std::shared_ptr<const Tiles> tiles, std::string label);
  /// Channels and extents of the latest input.
  [[nodiscard]] std::int64_t channels_seen() const { return channels_seen_; }
  [[nodiscard]] std::int64_t rows_seen() const { return rows_seen_; }
  [[nodiscard]] std::int64_t columns_seen() const { return columns_seen_; }

 protected:
  /// An input as the layer has to take it: with halos where it is a tile, and the padding that is then left to do.
  struct Prepared {
    at::Tensor input;
    std::int64_t row_padding;
    std::int64_t column_padding;
  };
  [[nodiscard]] Prepared prepare(const at::Tensor& input, double fill);
  [[nodiscard]] const Tiles* tiles() const { return tiles_.get(); }
  [[nodiscard]] const std::string& label() const { return label_; }
  void look_at(const at::Tensor& input);

 private:
  std::shared_ptr<const Tiles> tiles_;
  std::string label_;
  std::int64_t channels_seen_ = 0;
  std::int64_t rows_seen_ = 0;
  std::int64_t columns_seen_ = 0;
};

struct Conv2dImpl : torch::nn::Conv2dImpl, SpatialLayer {
  using torch::nn::Conv2dImpl::Conv2dImpl;
  Window window() const override;
  at::Tensor forward(const at::Tensor& input);
};
TORCH_MODULE(Conv2d);

struct MaxPool2dImpl : torch::nn::MaxPool2dImpl, SpatialLayer {
  using torch::nn::MaxPool2dImpl::MaxPool2dImpl;
  Window window() const override;
  at::Tensor forward(const at::Tensor& input);
};
TORCH_MODULE(MaxPool2d);

/// What is done with a mean over the image where each rank has a tile of it.
enum class MeanUse : std::uint8_t {
  alike,     ///< all ranks go on with the mean alone, so all compute the same
  on_tiles,  ///< each rank goes on with the mean and its tile
};

/// Mean over all pixels: [sample, channel].
struct ImageMeanImpl : torch::nn::Module, SpatialLayer {
  explicit ImageMeanImpl(MeanUse use = MeanUse::alike) : use_(use) {}
  Window window() const override { return {}; }
  at::Tensor forward(const at::Tensor& input);
  [[nodiscard]] MeanUse use() const { return use_; }

 private:
  MeanUse use_;
};
TORCH_MODULE(ImageMean);

}  // namespace rankscope::trainer
