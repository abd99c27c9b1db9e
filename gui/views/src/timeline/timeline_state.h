// What the timeline widget keeps beside the session.
#pragma once

#include <QImage>
#include <optional>

#include "rankscope/gui/views/timeline/timeline_view.h"
#include "timeline/overlay.h"
#include "timeline/renderer.h"

namespace rankscope::gui {

struct TimelineView::State {
  Layout layout{};
  Theme theme = Theme::light;
  std::optional<QPointF> cursor;
  Grip grip = Grip::none;
  QPointF pressed;
  std::optional<SpanId> pressed_span;  // below `pressed`
  bool moved = false;                  // the mouse since then, further than a hand trembles
  QPointF last;
  std::optional<QRectF> drag;    // area that is being selected
  RunTime fixed{};               // end of the selected range that stays while the other one is moved
  std::vector<Flow> flows;       // of the selected span
  std::optional<Header> header;  // the current one, which keys fold
  QImage strip;
  double read = 0;   // share of what is being read
  double wheel = 0;  // angles that are not a whole notch yet
  Frame frame;
  std::uint64_t wanted = 0;  // number of the latest request
  Renderer renderer;         // last: it ends its thread first

  [[nodiscard]] OverlayInput overlay(const TimelineView& view) const;
};

}  // namespace rankscope::gui
