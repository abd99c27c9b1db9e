#include "engine/tensor/tiles.h"

#include <array>

#include "engine/note.h"
#include "engine/tensor/spatial_layers.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What one rank gives to and takes from its two neighbours along one direction; undefined where there is none.
struct Borders {
  at::Tensor before;
  at::Tensor after;
};

struct Neighbours {
  int before = -1;
  int after = -1;
};

void swap_borders(Comm& group, Neighbours of, const Borders& given, Borders& taken, const std::string& label) {
  std::array<Handle, 4> pending;
  const auto start = [&](std::size_t slot, int partner, const at::Tensor& out, const at::Tensor& in) {
    if (partner < 0) return;
    if (out.numel() > 0) pending[slot] = group.send(out.contiguous(), partner, label);
    if (in.numel() > 0) pending[slot + 1] = group.recv(in, partner, label);
  };
  start(0, of.before, given.before, taken.before);
  start(2, of.after, given.after, taken.after);
  for (Handle& handle : pending)
    if (handle.valid()) handle.wait_or_throw();
}

std::vector<std::int64_t> with_extent(const at::Tensor& tensor, std::int64_t dimension, std::int64_t extent) {
  auto sizes = tensor.sizes().vec();
  sizes[static_cast<std::size_t>(dimension)] = extent;
  return sizes;
}

struct HaloPlan {
  const Tiles* tiles;
  std::int64_t dimension;
  Halo halo;
  Neighbours neighbours;
};

struct ExchangeHalo : torch::autograd::Function<ExchangeHalo> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tile, const HaloPlan& plan, double fill,
                            const std::string& label) {
    context->saved_data["tiles"] = reinterpret_cast<std::int64_t>(plan.tiles);
    context->saved_data["dimension"] = plan.dimension;
    context->saved_data["before"] = plan.halo.before;
    context->saved_data["after"] = plan.halo.after;
    context->saved_data["to_before"] = std::int64_t{plan.neighbours.before};
    context->saved_data["to_after"] = std::int64_t{plan.neighbours.after};
    context->saved_data["label"] = label;
    const std::int64_t d = plan.dimension;
    const std::int64_t extent = tile.size(d);
    Borders taken{at::full(with_extent(tile, d, plan.halo.before), fill, tile.options()),
                  at::full(with_extent(tile, d, plan.halo.after), fill, tile.options())};
    // What is before a tile is after its neighbour: each gives what the other one needs on that side.
    const Borders given{tile.narrow(d, 0, plan.halo.after),
                        tile.narrow(d, extent - plan.halo.before, plan.halo.before)};
    swap_borders(plan.tiles->group(), plan.neighbours, given, taken, label + " forward");
    return at::cat({taken.before, tile, taken.after}, d);
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto number = [&](const char* name) { return context->saved_data[name].toInt(); };
    const auto* const tiles = reinterpret_cast<const Tiles*>(number("tiles"));
    const std::int64_t d = number("dimension");
    const Halo halo{number("before"), number("after")};
    const Neighbours of{static_cast<int>(number("to_before")), static_cast<int>(number("to_after"))};
    const at::Tensor& all = gradients[0];
    const std::int64_t extent = all.size(d) - halo.before - halo.after;
    at::Tensor own = all.narrow(d, halo.before, extent).clone();
    const Borders given{all.narrow(d, 0, halo.before), all.narrow(d, halo.before + extent, halo.after)};
    Borders taken{at::zeros(with_extent(all, d, halo.after), all.options()),
                  at::zeros(with_extent(all, d, halo.before), all.options())};
    swap_borders(tiles->group(), of, given, taken, context->saved_data["label"].toStringRef() + " backward");
    own.narrow(d, 0, halo.after).add_(taken.before);
    own.narrow(d, extent - halo.before, halo.before).add_(taken.after);
    return {own, {}, {}, {}};
  }
};

struct MeanOfImage : torch::autograd::Function<MeanOfImage> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& tile, const Tiles* tiles, MeanUse use,
                            const std::string& label) {
    context->saved_data["tiles"] = reinterpret_cast<std::int64_t>(tiles);
    context->saved_data["on_tiles"] = use == MeanUse::on_tiles;
    context->saved_data["label"] = label;
    context->saved_data["rows"] = tile.size(row_dimension);
    context->saved_data["columns"] = tile.size(column_dimension);
    at::Tensor sum = tile.sum({row_dimension, column_dimension});
    tiles->group().allreduce(sum, label + " forward").wait_or_throw();
    return sum.div_(tile.size(row_dimension) * tile.size(column_dimension) * tiles->group().group().size());
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto* const tiles = reinterpret_cast<const Tiles*>(context->saved_data["tiles"].toInt());
    const std::int64_t rows = context->saved_data["rows"].toInt();
    const std::int64_t columns = context->saved_data["columns"].toInt();
    at::Tensor of_mean = gradients[0];
    // Divided by the pixels of the image and multiplied by the number of tiles: by the pixels of this tile.
    std::int64_t pixels = rows * columns;
    if (context->saved_data["on_tiles"].toBool()) {
      of_mean = of_mean.clone(at::MemoryFormat::Contiguous);
      tiles->group().allreduce(of_mean, context->saved_data["label"].toStringRef() + " backward").wait_or_throw();
      pixels *= tiles->group().group().size();
    }
    const at::Tensor of_pixel = (of_mean / pixels).unsqueeze(-1).unsqueeze(-1);
    return {of_pixel.expand({-1, -1, rows, columns}).contiguous(), {}, {}, {}};
  }
};

}  // namespace

int Tiles::count(std::int64_t dimension) const { return dimension == row_dimension ? grid_.rows : grid_.columns; }

int Tiles::position(std::int64_t dimension) const {
  const int own = group_.group().position;
  return dimension == row_dimension ? own / grid_.columns : own % grid_.columns;
}

int Tiles::neighbour(std::int64_t dimension, int step) const {
  const int next = position(dimension) + step;
  if (!exchange_ || next < 0 || next >= count(dimension)) return -1;
  return group_.group().position + step * (dimension == row_dimension ? grid_.columns : 1);
}

void Tiles::describe() const {
  note("tiles", format("{}x{}", grid_.rows, grid_.columns));
  note("tile_row", std::to_string(position(row_dimension)));
  note("tile_column", std::to_string(position(column_dimension)));
  note("halo", exchange_ ? "on" : "off");
}

at::Tensor Tiles::own_part(const at::Tensor& images) const {
  at::Tensor part = images;
  for (const std::int64_t dimension : {row_dimension, column_dimension}) {
    const std::int64_t extent = images.size(dimension) / count(dimension);
    part = part.narrow(dimension, position(dimension) * extent, extent);
  }
  return part.contiguous();
}

at::Tensor Tiles::with_halos(const at::Tensor& tile, const Window& rows, const Window& columns, double fill,
                             const std::string& label) const {
  at::Tensor extended = tile;
  for (const std::int64_t dimension : {row_dimension, column_dimension}) {
    if (count(dimension) == 1) continue;
    const bool is_row = dimension == row_dimension;
    const Halo halo = halo_of(is_row ? rows : columns);
    if (halo.before == 0 && halo.after == 0) continue;
    const HaloPlan plan{this, dimension, halo, {neighbour(dimension, -1), neighbour(dimension, 1)}};
    extended = ExchangeHalo::apply(extended, plan, fill, format("{} halo {}", label, is_row ? "rows" : "columns"));
  }
  return extended;
}

at::Tensor Tiles::mean_of_image(const at::Tensor& tile, MeanUse use, const std::string& label) const {
  return MeanOfImage::apply(tile, this, use, label + " mean of image");
}

}  // namespace rankscope::trainer
