#include "timeline/line.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/colours.h"

namespace rankscope::gui {
namespace {

constexpr float least_share = 0.125F;
constexpr int narrowest_rim = 4;  // pixels of a span that gets a rim
constexpr int hatch_distance = 6;
constexpr int zigzag_height = 2;

}  // namespace

Line::Line(int width, QRgb background)
    : background_(background),
      pixels_(static_cast<std::size_t>(std::max(0, width)), background),
      marks_(pixels_.size(), plain) {}

void Line::colour_pixel(int x, QRgb colour, Mark mark) {
  if (x < 0 || x >= static_cast<int>(pixels_.size())) return;
  pixels_[static_cast<std::size_t>(x)] = colour;
  marks_[static_cast<std::size_t>(x)] = mark;
  any_marks_ = any_marks_ || mark != plain;
}

void Line::add_single(const lod::Piece& piece, QRgb colour) {
  const int begin = static_cast<int>(std::lround(piece.begin));
  const int end = std::max(begin + 1, static_cast<int>(std::lround(piece.end)));
  const Mark mark = is_hatched(piece.kind) ? hatched : plain;
  for (int x = begin; x < end; ++x) colour_pixel(x, colour, mark);
  if (end - begin >= narrowest_rim) colour_pixel(end - 1, blend(colour, 0xFF000000, 0.35F), mark);
}

void Line::add_column(int x, const lod::Piece& piece, QRgb colour) {
  colour_pixel(x, blend(background_, colour, std::max(piece.share, least_share)), piece.count > 1 ? several : plain);
}

void Line::add_wait(double begin, double end, QRgb colour) {
  const int last = static_cast<int>(std::lround(end));
  for (int x = static_cast<int>(std::lround(begin)); x < last; ++x) colour_pixel(x, colour, hatched);
}

QRgb Line::shade(std::size_t x, int y, int bottom) const {
  const QRgb colour = pixels_[x];
  const int place = static_cast<int>(x);
  if (marks_[x] == hatched && (place + y) % hatch_distance == 0) return blend(colour, 0xFF000000, 0.3F);
  const int from_foot = bottom - 1 - y;
  if (marks_[x] == several && from_foot < zigzag_height && (place / zigzag_height) % 2 == from_foot % 2)
    return blend(colour, 0xFF000000, 0.6F);
  return colour;
}

void Line::put(QImage& image, int top, int bottom) const {
  const int first = std::max(0, top);
  const int last = std::min(image.height(), bottom);
  const bool has_hatching = any_marks_ && std::ranges::find(marks_, hatched) != marks_.end();
  for (int y = first; y < last; ++y) {
    auto* const out = reinterpret_cast<QRgb*>(image.scanLine(y));
    std::memcpy(out, pixels_.data(), pixels_.size() * sizeof(QRgb));
    if (!has_hatching && (!any_marks_ || bottom - 1 - y >= zigzag_height)) continue;
    for (std::size_t x = 0; x < pixels_.size(); ++x)
      if (marks_[x] != plain) out[x] = shade(x, y, bottom);
  }
}

}  // namespace rankscope::gui
