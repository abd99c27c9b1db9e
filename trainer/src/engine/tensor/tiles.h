// Images that are cut into tiles, one on each rank: halos, and what holds for whole images (docs/tile.md).
#pragma once

#include <memory>
#include <string>

#include "engine/comm/comm.h"
#include "engine/tensor/spatial_layers.h"
#include "rankscope/trainer/layout/tile_plan.h"

namespace rankscope::trainer {

/// Directions of [sample, channel, row, column].
constexpr std::int64_t row_dimension = 2;
constexpr std::int64_t column_dimension = 3;

class Tiles {
 public:
  /// `group` has a rank for each tile, in their order. Without `exchange` the borders of tiles are filled like those of
  /// the image: wrong, and here to show how wrong.
  Tiles(Comm& group, TileGrid grid, bool exchange) : group_(group), grid_(grid), exchange_(exchange) {}

  [[nodiscard]] Comm& group() const { return group_; }
  [[nodiscard]] int count(std::int64_t dimension) const;

  /// Notes the grid and the own place in it in the metadata of the recording.
  void describe() const;

  /// This rank's tile of images [sample, channel, row, column].
  [[nodiscard]] at::Tensor own_part(const at::Tensor& images) const;

  /// The tile with what `window` needs of its neighbours in both directions; beyond the image's edge there is `fill`.
  /// Rows first and then columns of what came out of it, so that corners arrive, too. Its backward adds the gradients
  /// of halos where they came from.
  [[nodiscard]] at::Tensor with_halos(const at::Tensor& tile, const Window& rows, const Window& columns, double fill,
                                      const std::string& label) const;

  /// Mean over all pixels of the image, [sample, channel], equal on all ranks. Gradients of weights are averaged over
  /// the ranks in the end, but have to be summed over tiles. So where all ranks go on with the mean alone, its backward
  /// multiplies by the number of tiles: behind it all ranks have the same gradients, whose mean is right as it is, and
  /// before it the mean is the sum. Where they go on with their tiles, the gradient of the mean is the sum of all.
  [[nodiscard]] at::Tensor mean_of_image(const at::Tensor& tile, MeanUse use, const std::string& label) const;

  /// Position of the next tile (`step` 1) or the one before (-1), or -1 where the image ends.
  [[nodiscard]] int neighbour(std::int64_t dimension, int step) const;

 private:
  [[nodiscard]] int position(std::int64_t dimension) const;

  Comm& group_;
  TileGrid grid_;
  bool exchange_;
};

}  // namespace rankscope::trainer
