#include "timeline/overlay.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/time_text.h"
#include "rankscope/gui/models/session/moments.h"

namespace rankscope::gui {
namespace {

constexpr double gutter_width = 190;
constexpr double minimap_height = 44;
constexpr double ruler_height = 22;

QRectF columns(const OverlayInput& input, TimeRange time) {
  const TimeScale scale = input.layout.scale(input.session.visible());
  const QRectF& canvas = input.layout.canvas;
  const double left = std::clamp(scale.x_of(time.begin), canvas.left(), canvas.right());
  const double right = std::clamp(scale.x_of(time.end), canvas.left(), canvas.right());
  return {left, canvas.top(), right - left, canvas.height()};
}

/// Tracks of one rank below each other, as far as they are in sight.
struct RankRows {
  RankId rank;
  bool pinned = false;
  double top = 0;
  double bottom = 0;
};

std::vector<RankRows> ranks_in_sight(const OverlayInput& input) {
  const Layout& layout = input.layout;
  std::vector<RankRows> all;
  for (const TrackList::Part part : both_parts)
    for (const Track& track : in_sight(input.model.tracks(), layout, part)) {
      const double first = layout.canvas.top() + (track.pinned ? 0 : layout.pinned_height);
      const double top = std::max(first, layout.y_of(track));
      const double bottom = std::min(layout.canvas.bottom(), layout.y_of(track) + track.height);
      if (!track.rank.is_set() || bottom <= top) continue;
      if (!all.empty() && all.back().rank == track.rank && all.back().pinned == track.pinned)
        all.back().bottom = bottom;
      else
        all.push_back({track.rank, track.pinned, top, bottom});
    }
  return all;
}

/// A dashed line at the start of each step of a rank, over the rows of that rank: ranks need not start a step together.
void paint_steps(QPainter& painter, const OverlayInput& input) {
  constexpr double least_distance = 8;
  painter.setPen(QPen{QColor{colours_of(input.theme).faint}, 1, Qt::DashLine});
  const TimeScale scale = input.layout.scale(input.session.visible());
  const QRectF& canvas = input.layout.canvas;
  for (const RankRows& rows : ranks_in_sight(input)) {
    double last = canvas.left() - least_distance;
    for (const analyzer::StepWindow& step : steps_of(input.session.report().get(), rows.rank)) {
      const double x = scale.x_of(step.window.begin);
      if (x < canvas.left() || x > canvas.right() || x - last < least_distance) continue;
      last = x;
      painter.drawLine(QPointF{x, rows.top}, QPointF{x, rows.bottom});
    }
  }
}

bool is_known(const OverlayInput& input, SpanId span) {
  const auto& facts = input.model.facts();
  return facts != nullptr && span.index() < facts->run->spans().size();
}

/// Its time, as high as a part of its track.
QRectF box_at(const OverlayInput& input, TimeRange time, double top, double height) {
  const TimeScale scale = input.layout.scale(input.session.visible());
  const double left = std::clamp(scale.x_of(time.begin), -1e6, 1e6);
  const double right = std::clamp(scale.x_of(time.end), -1e6, 1e6);
  return {left, top, std::max(2.0, right - left), height};
}

/// The innermost of the drawn spans of its lane that enclose a span.
std::optional<SpanId> drawn_around(const Facts& facts, const Track& track, SpanId id) {
  const Span& span = facts.run->span(id);
  const auto& rows = facts.lod->lane(span.lane).rows;
  for (std::uint32_t row = std::min(track.rows, facts.lod->place_of(id).row); row-- > 0;) {
    const auto place = rows[row].at(span.time.begin, nanoseconds{0});
    if (!place) continue;
    const TimeRange around = rows[row].span(*place).time;
    if (around.begin <= span.time.begin && span.time.end <= around.end) return rows[row].id(*place);
  }
  return std::nullopt;
}

/// Its duration stands in the middle.
void paint_range(QPainter& painter, const OverlayInput& input, const QRectF& box, TimeRange time) {
  const ThemeColours& theme = colours_of(input.theme);
  QColor fill{theme.accent};
  fill.setAlpha(28);
  painter.fillRect(box, fill);
  painter.setPen(QColor{theme.accent});
  painter.drawRect(box.adjusted(0, 0, -1, -1));
  const QString text = QString::fromStdString(duration_text(time.length()));
  QRectF label = painter.fontMetrics().boundingRect(text);
  label.moveCenter({box.center().x(), std::max(box.top(), input.layout.canvas.top()) + 12});
  painter.fillRect(label.adjusted(-4, -2, 4, 2), QColor{theme.background});
  painter.drawText(label, Qt::AlignCenter, text);
}

void paint_area(QPainter& painter, const OverlayInput& input) {
  if (input.drag) {
    const TimeScale scale = input.layout.scale(input.session.visible());
    return paint_range(painter, input, *input.drag,
                       {scale.time_at(input.drag->left()), scale.time_at(input.drag->right())});
  }
  if (const auto box = box_of_area(input)) paint_range(painter, input, *box, input.session.area()->time);
}

void paint_selection(QPainter& painter, const OverlayInput& input) {
  if (!input.session.selection()) return;
  const auto box = place_of(input, *input.session.selection());
  if (!box) return;
  const bool is_itself = box_of(input, *input.session.selection()).has_value();
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen{QColor{colours_of(input.theme).background}, 4});
  painter.drawRect(*box);
  painter.setPen(QPen{QColor{colours_of(input.theme).accent}, 2, is_itself ? Qt::SolidLine : Qt::DashLine});
  painter.drawRect(*box);
}

void paint_cursor(QPainter& painter, const OverlayInput& input) {
  if (!input.cursor || !input.layout.canvas.contains(*input.cursor)) return;
  const ThemeColours& theme = colours_of(input.theme);
  const TimeScale scale = input.layout.scale(input.session.visible());
  const double x = input.cursor->x();
  painter.setPen(QColor{theme.text});
  painter.drawLine(QPointF{x, input.layout.canvas.top()}, QPointF{x, input.layout.canvas.bottom()});
  const nanoseconds since = scale.time_at(x) - input.session.extent().begin;
  const QString text = QString::fromStdString(
      axis_text(since, nanoseconds{static_cast<std::int64_t>(scale.ns_per_pixel())}, input.session.extent().length()));
  QRectF label = painter.fontMetrics().boundingRect(text).adjusted(-4, -1, 4, 1);
  label.moveCenter({x, input.layout.ruler.center().y()});
  label.moveRight(std::min(label.right(), input.layout.ruler.right()));
  painter.fillRect(label, QColor{theme.text});
  painter.setPen(QColor{theme.background});
  painter.drawText(label, Qt::AlignCenter, text);
}

/// At the top of the canvas, from the begin of its mark on.
void paint_note(QPainter& painter, const OverlayInput& input, const TimeMark& mark, double left) {
  if (mark.note.empty()) return;
  constexpr double widest = 260;
  const ThemeColours& theme = colours_of(input.theme);
  const QString text = painter.fontMetrics().elidedText(QString::fromStdString(mark.note).simplified(), Qt::ElideRight,
                                                        static_cast<int>(widest));
  QRectF label = painter.fontMetrics().boundingRect(text).adjusted(-4, -2, 4, 2);
  label.moveTopLeft({std::min(left, input.layout.canvas.right() - label.width()), input.layout.canvas.top() + 2});
  painter.fillRect(label, QColor{theme.critical});
  painter.setPen(text_on(theme.critical));
  painter.drawText(label, Qt::AlignCenter, text);
}

void paint_marks(QPainter& painter, const OverlayInput& input) {
  for (const TimeMark& mark : input.navigator.marks()) {
    QRectF box = columns(input, mark.time);
    QColor fill{colours_of(input.theme).critical};
    fill.setAlpha(mark.kept ? 50 : 30);
    painter.fillRect(box, fill);
    box.setTop(input.layout.ruler.top());
    box.setHeight(4);
    painter.fillRect(box, QColor{colours_of(input.theme).critical});
    if (box.width() > 0 || input.session.visible().contains(mark.time.begin))
      paint_note(painter, input, mark, box.left());
  }
}

}  // namespace

Layout layout_of(QSizeF size, double pinned_height, double scroll) {
  Layout layout;
  const double top = minimap_height + ruler_height;
  const double width = std::max(1.0, size.width() - gutter_width);
  layout.minimap = {gutter_width, 0, width, minimap_height};
  layout.ruler = {gutter_width, minimap_height, width, ruler_height};
  layout.gutter = {0, top, gutter_width, std::max(1.0, size.height() - top)};
  layout.canvas = {gutter_width, top, width, std::max(1.0, size.height() - top)};
  layout.pinned_height = std::min(pinned_height, layout.canvas.height() / 2);
  layout.scroll = scroll;
  return layout;
}

std::span<const Track> in_sight(const TrackList& tracks, const Layout& layout, TrackList::Part part) {
  const double above = part == TrackList::Part::pinned ? 0 : layout.scroll - layout.pinned_height;
  return tracks.between(part, above, above + layout.canvas.height());
}

std::optional<QRectF> box_of_area(const OverlayInput& input) {
  const auto& area = input.session.area();
  if (!area) return std::nullopt;
  const QRectF columns_of_area = columns(input, area->time);
  QRectF box;
  for (const TrackList::Part part : both_parts)
    for (const Track& track : in_sight(input.model.tracks(), input.layout, part))
      if (track.lane.is_set() && std::ranges::binary_search(area->lanes, track.lane))
        box |= QRectF{columns_of_area.left(), input.layout.y_of(track), columns_of_area.width(), track.height};
  return box.isEmpty() ? std::nullopt : std::optional{box};
}

std::optional<QRectF> box_of(const OverlayInput& input, SpanId span) {
  if (!is_known(input, span)) return std::nullopt;
  const Facts& facts = *input.model.facts();
  const Span& wanted = facts.run->span(span);
  const std::uint32_t row = facts.lod->place_of(span).row;
  const Track* const track = input.model.tracks().drawing(wanted.lane, row);
  if (track == nullptr) return std::nullopt;
  const double y = input.layout.y_of(*track);
  if (track->kind == TrackKind::rank) {
    const double part = track->comm_lane.is_set() ? track->height / 2 : track->height;
    return box_at(input, wanted.time, wanted.lane == track->lane ? y : y + part, part);
  }
  const double height = input.model.row_height();
  return box_at(input, wanted.time, y + row * height, height - 1);
}

std::optional<QRectF> pinned_box_of(const OverlayInput& input, SpanId span) {
  if (!is_known(input, span)) return std::nullopt;
  const Span& wanted = input.model.facts()->run->span(span);
  const std::uint32_t row = input.model.facts()->lod->place_of(span).row;
  const double height = input.model.row_height();
  for (const Track& track : input.model.tracks().tracks)
    if (track.pinned && track.lane == wanted.lane && row < track.rows)
      return box_at(input, wanted.time, input.layout.y_of(track) + row * height, height - 1);
  return std::nullopt;
}

std::optional<QRectF> place_of(const OverlayInput& input, SpanId span) {
  if (!is_known(input, span)) return std::nullopt;
  if (const auto box = box_of(input, span)) return box;
  const Facts& facts = *input.model.facts();
  const Span& wanted = facts.run->span(span);
  const Track* const track = input.model.tracks().of_lane(wanted.lane, *facts.run);
  if (track == nullptr) return std::nullopt;
  if (track->kind == TrackKind::rank) return box_at(input, wanted.time, input.layout.y_of(*track), track->height);
  const auto around = drawn_around(facts, *track, span);
  return around ? box_of(input, *around) : std::nullopt;
}

void paint_overlay(QPainter& painter, const OverlayInput& input) {
  painter.save();
  painter.setClipRect(input.layout.canvas);
  paint_steps(painter, input);
  paint_flows(painter, input);
  paint_selection(painter, input);
  paint_area(painter, input);
  painter.restore();
  paint_frame(painter, input);
  paint_marks(painter, input);
  paint_cursor(painter, input);
}

}  // namespace rankscope::gui
