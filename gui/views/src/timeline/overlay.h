// What changes with each move of the mouse, and all that stands around the spans: drawn over the last frame.
#pragma once

#include <QImage>
#include <QPainter>
#include <QRectF>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "base/colours.h"
#include "rankscope/gui/models/timeline/flows.h"
#include "rankscope/gui/models/timeline/navigator.h"

namespace rankscope::gui {

/// Where the parts of the timeline are, in pixels of the widget.
struct Layout {
  QRectF minimap;
  QRectF ruler;
  QRectF gutter;  ///< names of tracks, left of the canvas
  QRectF canvas;
  double pinned_height = 0;
  double scroll = 0;

  [[nodiscard]] double y_of(const Track& track) const {
    return canvas.top() + track.y + (track.pinned ? 0 : pinned_height - scroll);
  }
  [[nodiscard]] TimeScale scale(TimeRange visible) const {
    return {.time = visible, .left = canvas.left(), .width = canvas.width()};
  }
};
/// Tracks of a part that are at least partly between the top and the bottom of the canvas; some are behind pinned ones.
[[nodiscard]] std::span<const Track> in_sight(const TrackList& tracks, const Layout& layout, TrackList::Part part);
inline constexpr std::array both_parts{TrackList::Part::pinned, TrackList::Part::scrolled};

/// The header of the rank whose rows begin above what is in sight: it is drawn over their names.
struct StickyHeader {
  const Track* track;
  double y;  ///< of its top, in pixels of the widget
};
[[nodiscard]] std::optional<StickyHeader> sticky_header(const TrackList& tracks, const Layout& layout);

/// Of the circle that pins a lane, at the right end of its name.
inline constexpr double pin_width = 16;
[[nodiscard]] Layout layout_of(QSizeF size, double pinned_height, double scroll);

/// All that the overlay shows.
struct OverlayInput {
  const Session& session;
  const TimelineModel& model;
  const Navigator& navigator;
  Layout layout;
  Theme theme = Theme::light;
  std::optional<QPointF> cursor{};
  std::optional<QRectF> drag{};  ///< area that is being selected
  std::vector<Flow> flows{};
  bool critical_path = false;
  const QImage* strip = nullptr;   ///< of the minimap
  std::optional<Header> header{};  ///< the one that keys act on, framed
};

/// The box of a span on the widget, if its row is drawn; it may be out of sight.
[[nodiscard]] std::optional<QRectF> box_of(const OverlayInput& input, SpanId span);
/// The same, or what stands for it where its row is not drawn: the nearest span around it that is, or its time on the
/// header of its folded rank.
[[nodiscard]] std::optional<QRectF> place_of(const OverlayInput& input, SpanId span);

/// Around the lanes of the selected range, as wide as it is in sight; nothing where none of them is drawn.
[[nodiscard]] std::optional<QRectF> box_of_area(const OverlayInput& input);

/// The box of a span on a pinned lane, if its row is drawn there.
[[nodiscard]] std::optional<QRectF> pinned_box_of(const OverlayInput& input, SpanId span);

void paint_overlay(QPainter& painter, const OverlayInput& input);
/// Flows of the selection and the critical path (overlay_flows.cpp).
void paint_flows(QPainter& painter, const OverlayInput& input);
/// Names of tracks, ruler and minimap (overlay_frame.cpp).
void paint_frame(QPainter& painter, const OverlayInput& input);

/// A line per rank over the whole run: how late it was in each step; where that is not known, how busy it was. Where
/// ranks or steps share a pixel, it shows the one that was furthest from the median rank, or busiest (heat_strip.cpp).
[[nodiscard]] QImage heat_strip(const Facts& facts, QSize size, Theme theme);

}  // namespace rankscope::gui
