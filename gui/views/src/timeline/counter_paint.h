// Quantities over time: the sampled counters of a track, and what charts show.
#pragma once

#include <QImage>
#include <optional>
#include <span>

#include "rankscope/gui/models/base/value_columns.h"
#include "timeline/scene.h"

namespace rankscope::gui {

/// Where values are painted and how high they are, in pixels of the image.
struct ValueArea {
  int left = 0;
  int top = 0;
  int bottom = 0;
  double floor = 0;  ///< the value at the bottom
  double range = 1;  ///< from bottom to top
  QRgb full = 0;     ///< below the value
  QRgb rim = 0;      ///< from the least to the greatest value of a column
};

/// One column per pixel, from the left of the area on.
void paint_columns(QImage& image, std::span<const std::optional<ValueColumn>> columns, const ValueArea& area);

/// Between the lines `top` and `bottom` of the image, from 0 (or the least value below it) to the greatest of the
/// track. Each pixel shows the least and the greatest value within it.
void paint_counter(QImage& image, const Scene& scene, const PlacedTrack& placed, int top, int bottom);

}  // namespace rankscope::gui
