// How images are cut into tiles, and what a layer needs of its neighbours' tiles (docs/tile.md).
#pragma once

#include <cstdint>
#include <string>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// Tiles of an image: position p in the group has row p / columns and column p % columns.
struct TileGrid {
  int rows = 1;
  int columns = 1;

  [[nodiscard]] int count() const { return rows * columns; }
};

/// "2x2" is two rows of two tiles; empty text means one column with a row for each rank.
[[nodiscard]] Result<TileGrid> tile_grid(const std::string& text, int ranks);

/// A convolution or pooling along one direction.
struct Window {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;

  /// What the kernel reaches over.
  [[nodiscard]] std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
};

/// Rows (or columns) of the neighbours that the own tile's output needs.
struct Halo {
  std::int64_t before = 0;
  std::int64_t after = 0;
};
[[nodiscard]] Halo halo_of(const Window& window);

/// One direction of one layer, for check_tiling.
struct TiledLayer {
  std::string name;       ///< "stage1_0.conv0.conv"
  std::string direction;  ///< "rows" or "columns"
  Window window;
  std::int64_t extent = 0;  ///< of the whole input in that direction
  int tiles = 1;            ///< in that direction
};

/// Refuses, with the numbers, a layer whose output on tiles would not be the tiles of its output: extents that do not
/// divide, windows that shrink the image, tiles smaller than a halo.
[[nodiscard]] Result<void> check_tiling(const TiledLayer& layer);

}  // namespace rankscope::trainer
