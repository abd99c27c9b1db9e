// Times above or below what is drawn over them.
#pragma once

#include <QPainter>

#include "base/colours.h"
#include "rankscope/gui/models/base/time_scale.h"

namespace rankscope::gui {

struct Ruler {
  QRectF box;
  TimeScale scale;
  RunTime origin{};       ///< what counts as 0
  nanoseconds longest{};  ///< the labels have the unit that fits to it
  Theme theme = Theme::light;
};
void paint_ruler(QPainter& painter, const Ruler& ruler);

}  // namespace rankscope::gui
