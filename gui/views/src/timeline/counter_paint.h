// Counters as filled curves.
#pragma once

#include "timeline/scene.h"

namespace rankscope::gui {

/// Between the lines `top` and `bottom` of the image, from 0 (or the least value below it) to the greatest of the
/// track. Each pixel shows the least and the greatest value within it.
void paint_counter(QImage& image, const Scene& scene, const PlacedTrack& placed, int top, int bottom);

}  // namespace rankscope::gui
