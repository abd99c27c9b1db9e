// What is painted of the timeline, and pictures of it.
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "timeline/timeline_state.h"

namespace rankscope::gui {
namespace {

ColourBy colour_by(Colouring colouring) {
  switch (colouring) {
    case Colouring::by_kind:
      return ColourBy::kind;
    case Colouring::by_name:
      return ColourBy::name;
    case Colouring::by_lateness:
      return ColourBy::lateness;
  }
  return ColourBy::kind;
}

}  // namespace

void TimelineView::take_progress(double share) {
  state_->read = share;
  if (model_->facts() != nullptr) return;
  setAccessibleDescription(words_without_rows());
  update();
}

QString TimelineView::words_without_rows() const {
  if (session_.run() != nullptr) return tr("Preparing the timeline...");
  if (session_.state() == LoadState::reading)
    return tr("Reading... %1 %").arg(static_cast<int>(std::lround(100 * state_->read)));
  return tr("Drop a recording here, or open one from the File menu.");
}

Scene TimelineView::scene() const {
  const Layout& layout = state_->layout;
  Scene scene{.facts = model_->facts(),
              .time = session_.visible(),
              .width = layout.canvas.width(),
              .height = layout.canvas.height(),
              .ratio = devicePixelRatioF(),
              .row_height = model_->row_height(),
              .tracks = {},
              .colour_by = colour_by(colouring_),
              .theme = state_->theme,
              .lit = navigator_->lit(),
              .hits = navigator_->hits(),
              .labels = true,
              .font = font()};
  // Pinned tracks are painted last, over what is scrolled below them.
  for (const TrackList::Part part : {TrackList::Part::scrolled, TrackList::Part::pinned})
    for (const Track& track : in_sight(model_->tracks(), layout, part))
      scene.tracks.push_back({track, layout.y_of(track) - layout.canvas.top()});
  return scene;
}

QSize TimelineView::picture_size() const {
  return {std::max(1, width() - bar_->sizeHint().width()), std::max(1, height())};
}

void TimelineView::paint_picture(QPainter& painter) const {
  const QRect all{{0, 0}, picture_size()};
  painter.setFont(font());
  painter.fillRect(all, QColor{colours_of(state_->theme).background});
  if (model_->facts() == nullptr) return;
  const Layout& layout = state_->layout;
  painter.save();
  painter.translate(layout.canvas.topLeft());
  gui::paint(painter, scene());
  painter.restore();
  OverlayInput input = state_->overlay(*this);
  input.cursor.reset();
  input.drag.reset();
  input.header.reset();
  const QImage strip = heat_strip(*model_->facts(), layout.minimap.size().toSize() - QSize{0, 4}, state_->theme);
  input.strip = &strip;
  paint_overlay(painter, input);
  // SVG knows no clipping: what stands left of the ruler is painted over.
  const QRectF& ruler = layout.ruler;
  painter.fillRect(QRectF{0, ruler.top(), ruler.left(), ruler.height()}, QColor{colours_of(state_->theme).background});
}

}  // namespace rankscope::gui
