#include "rankscope/trainer/layout/tile_plan.h"

#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {
Result<TileGrid> tile_grid(const std::string& text, int ranks) {
  if (text.empty()) return TileGrid{ranks, 1};
  std::string_view rest = text;
  const auto rows = take_number<int>(rest, {.least = 1});
  const bool crossed = rest.starts_with('x');
  if (crossed) rest.remove_prefix(1);
  const auto columns = number_from<int>(rest, {.least = 1});
  if (!rows || !crossed || !columns) {
    return fail(ErrorKind::usage, format("--tiles {}: must be rows x columns, such as 2x2", text));
  }
  const TileGrid grid{*rows, *columns};
  if (std::int64_t{grid.rows} * grid.columns != ranks) {
    return fail(ErrorKind::usage,
                format("--tiles {} makes {} for {}; there must be one tile per rank", text,
                       counted(std::int64_t{grid.rows} * grid.columns, "tile"), counted(ranks, "rank")));
  }
  return grid;
}

Halo halo_of(const Window& window) {
  return {window.padding, std::max<std::int64_t>(0, window.reach() - window.stride - window.padding)};
}

Result<void> check_tiling(const TiledLayer& layer) {
  if (layer.tiles == 1) return {};
  const Window& window = layer.window;
  const auto refused = [&](const std::string& why) {
    return fail(ErrorKind::usage, format("--tiles: {} cannot be cut into {} tiles along its {}: {}", layer.name,
                                         layer.tiles, layer.direction, why));
  };
  if (window.reach() - window.stride > 2 * window.padding || 2 * window.padding >= window.reach()) {
    return refused(format("a kernel of size {} with stride {} and padding {} does not keep the image's size",
                          window.kernel, window.stride, window.padding));
  }
  if (layer.extent % (layer.tiles * window.stride) != 0) {
    return refused(
        format("its input has {}, which is not a multiple of {} tiles x stride {}; use fewer tiles or "
               "another image size",
               format("{} {}", layer.extent, layer.direction), layer.tiles, window.stride));
  }
  const Halo halo = halo_of(window);
  const std::int64_t tile = layer.extent / layer.tiles;
  if (const std::int64_t needed = std::max(halo.before, halo.after); tile < needed) {
    return refused(format(
        "a tile would have size {}, less than the halo of {} that its neighbour needs; use fewer tiles", tile, needed));
  }
  return {};
}

}  // namespace rankscope::trainer
