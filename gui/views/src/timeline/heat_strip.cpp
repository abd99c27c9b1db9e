#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "rankscope/core/model/run.h"
#include "timeline/overlay.h"

namespace rankscope::gui {
namespace {

/// Pixels of which each shows what counts most of all that falls into it.
class Pixels {
 public:
  explicit Pixels(QImage& image)
      : image_(image),
        weights_(static_cast<std::size_t>(image.width()) * static_cast<std::size_t>(image.height()), -1) {}

  struct Box {
    double left;
    double right;  ///< a box is at least one pixel wide
    int top;
    int bottom;
  };
  void put(const Box& box, float weight, QRgb colour) {
    const int left = std::clamp(static_cast<int>(std::lround(box.left)), 0, image_.width() - 1);
    const int right = std::clamp(static_cast<int>(std::lround(box.right)), left + 1, image_.width());
    for (int y = box.top; y < std::min(box.bottom, image_.height()); ++y) {
      auto* const colours = reinterpret_cast<QRgb*>(image_.scanLine(y));
      float* const weights = &weights_[static_cast<std::size_t>(y) * static_cast<std::size_t>(image_.width())];
      for (int x = left; x < right; ++x) {
        if (weight <= weights[x]) continue;
        weights[x] = weight;
        colours[x] = colour;
      }
    }
  }

 private:
  QImage& image_;
  std::vector<float> weights_;  // by pixel; negative: nothing is there yet
};

/// Of each rank the row with most spans: of its streams if it has any.
std::map<RankId, const lod::RowLod*> fullest_rows(const Facts& facts) {
  std::map<RankId, const lod::RowLod*> fullest;
  std::map<RankId, std::pair<bool, std::size_t>> weights;  // of a stream, and how many spans
  for (const Lane& lane : facts.run->lanes())
    for (const lod::RowLod& row : facts.lod->lane(facts.run->id_of(lane)).rows) {
      const std::pair weight{lane.kind == LaneKind::stream, row.size()};
      const lod::RowLod*& best = fullest[lane.rank];
      if (best != nullptr && weight <= weights[lane.rank]) continue;
      best = &row;
      weights[lane.rank] = weight;
    }
  return fullest;
}

void put_late_rank(Pixels& pixels, const Facts& facts, std::size_t rank, const TimeScale& scale, Pixels::Box box) {
  for (std::size_t step = 0; step < facts.lateness.steps.size(); ++step) {
    const auto share = facts.lateness.share_of(rank, step);
    if (!share) continue;
    const TimeRange time = facts.lateness.steps[step].time;
    box.left = scale.x_of(time.begin);
    box.right = scale.x_of(time.end);
    pixels.put(box, std::abs(*share), colour_of_lateness(*share));
  }
}

void put_busy_rank(Pixels& pixels, const lod::RowLod& row, const lod::View& view, QRgb under, Pixels::Box box) {
  for (const lod::Piece& piece : row.pieces(view)) {
    box.left = std::floor(piece.begin);
    box.right = std::ceil(piece.end);
    pixels.put(box, piece.share, blend(under, colour_of(piece.kind), std::max(0.125F, piece.share)));
  }
}

}  // namespace

QImage heat_strip(const Facts& facts, QSize size, Theme theme) {
  QImage image{size.expandedTo({1, 1}), QImage::Format_RGB32};
  const QRgb under = colours_of(theme).lane;
  image.fill(under);
  Pixels pixels{image};
  const bool late = !facts.lateness.empty();
  const auto ranks = late ? std::span<const RankId>{facts.lateness.ranks} : facts.run->ranks();
  const auto fullest = late ? std::map<RankId, const lod::RowLod*>{} : fullest_rows(facts);
  const TimeScale scale{.time = facts.run->extent(), .left = 0, .width = static_cast<double>(image.width())};
  const lod::View view{facts.run->extent(), static_cast<std::uint32_t>(image.width())};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const int top = static_cast<int>(rank * static_cast<std::size_t>(image.height()) / ranks.size());
    const int next = static_cast<int>((rank + 1) * static_cast<std::size_t>(image.height()) / ranks.size());
    const Pixels::Box box{0, 0, top, next - top > 3 ? next - 1 : std::max(next, top + 1)};
    if (late)
      put_late_rank(pixels, facts, rank, scale, box);
    else if (const auto row = fullest.find(ranks[rank]); row != fullest.end())
      put_busy_rank(pixels, *row->second, view, under, box);
  }
  return image;
}

}  // namespace rankscope::gui
