// One row of the timeline as a line of pixels, which is then repeated over the height of the row.
#pragma once

#include <QImage>
#include <vector>

#include "rankscope/core/lod/row_lod.h"

namespace rankscope::gui {

class Line {
 public:
  Line(int width, QRgb background);

  /// A span of its own, with a darker rim at its end where there is room.
  void add_single(const lod::Piece& piece, QRgb colour);
  /// One pixel, as full as its spans cover it. What covers next to nothing is still seen (an eighth).
  void add_column(int x, const lod::Piece& piece, QRgb colour);
  /// The part of a collective in which it waited: paler, hatched against the rest.
  void add_wait(double begin, double end, QRgb colour);
  /// From `top` to before `bottom`, as far as the image goes. Pixels that hide several spans have a zigzag at their
  /// foot.
  void put(QImage& image, int top, int bottom) const;

 private:
  enum Mark : std::uint8_t { plain, hatched, several };
  [[nodiscard]] QRgb shade(std::size_t x, int y, int bottom) const;
  void colour_pixel(int x, QRgb colour, Mark mark);

  QRgb background_;
  std::vector<QRgb> pixels_;
  std::vector<std::uint8_t> marks_;
  bool any_marks_ = false;
};

}  // namespace rankscope::gui
