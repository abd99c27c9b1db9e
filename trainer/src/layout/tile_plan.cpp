#include "rankscope/trainer/layout/tile_plan.h"

#include <algorithm>
#include <charconv>

#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

/// A whole number from 1 at `text`; moves `text` behind it. 0 where there is none.
int take_number(std::string_view& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 1) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

Result<TileGrid> tile_grid(const std::string& text, int ranks) {
  if (text.empty()) return TileGrid{ranks, 1};
  std::string_view rest = text;
  TileGrid grid;
  grid.rows = take_number(rest);
  const bool crossed = rest.starts_with('x');
  if (crossed) rest.remove_prefix(1);
  grid.columns = take_number(rest);
  if (!crossed || grid.rows == 0 || grid.columns == 0 || !rest.empty()) {
    return fail(ErrorKind::usage, format("--tiles {}: give rows x columns, such as 2x2", text));
  }
  if (std::int64_t{grid.rows} * grid.columns != ranks) {
    return fail(ErrorKind::usage, format("--tiles {} makes {} tiles, but there are {}; each has one", text,
                                         std::int64_t{grid.rows} * grid.columns, counted(ranks, "rank")));
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
    return refused(format("a kernel of {} with stride {} and padding {} does not keep the image's size", window.kernel,
                          window.stride, window.padding));
  }
  if (layer.extent % (layer.tiles * window.stride) != 0) {
    return refused(
        format("its input has {}, which are not a multiple of {} tiles x stride {}; use fewer tiles or "
               "another image size",
               format("{} {}", layer.extent, layer.direction), layer.tiles, window.stride));
  }
  const Halo halo = halo_of(window);
  const std::int64_t tile = layer.extent / layer.tiles;
  if (const std::int64_t needed = std::max(halo.before, halo.after); tile < needed) {
    return refused(format("a tile of {} {} is smaller than the halo of {} that its neighbour needs; use fewer tiles",
                          tile, layer.direction, needed));
  }
  return {};
}

}  // namespace rankscope::trainer
