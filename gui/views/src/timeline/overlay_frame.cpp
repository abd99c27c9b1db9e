#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "timeline/overlay.h"
#include "timeline/ruler.h"

namespace rankscope::gui {
namespace {

constexpr double indent_width = 12;
constexpr double fold_width = 14;
constexpr double note_height = 18;  // "+2 deeper rows", at the foot of a lane

void paint_fold(QPainter& painter, QPointF centre, bool folded) {
  const double half = 4;
  QPolygonF triangle;
  if (folded)
    triangle << centre + QPointF{-half / 2, -half} << centre + QPointF{half, 0} << centre + QPointF{-half / 2, half};
  else
    triangle << centre + QPointF{-half, -half / 2} << centre + QPointF{half, -half / 2} << centre + QPointF{0, half};
  painter.drawPolygon(triangle);
}

/// The mean lateness of a rank, at the right of its header.
double paint_lateness(QPainter& painter, const OverlayInput& input, const Track& track, const QRectF& row) {
  const bool of_one_rank = track.kind == TrackKind::rank && track.others == 0;
  const auto late = of_one_rank && input.model.facts() != nullptr ? input.model.facts()->lateness.mean_share(track.rank)
                                                                  : std::nullopt;
  if (!late) return 0;
  const QRectF box{row.right() - pin_width - 46, row.top() + 3, 44, row.height() - 6};
  const QRgb colour = colour_of_lateness(*late);
  painter.fillRect(box, QColor{colour});
  painter.setPen(text_on(colour));
  painter.drawText(box, Qt::AlignCenter, QString::asprintf("%+d %%", static_cast<int>(std::lround(*late * 100))));
  return 48;
}

/// Where the name stands: at the top of its track, and in sight, below `first`, as long as the track is.
double top_of_name(const Track& track, const QRectF& row, double height, double first) {
  const double lowest = row.bottom() - height - (track.deeper_rows > 0 ? note_height : 0);
  return std::max(row.top(), std::min(first, lowest));
}

/// Below the name of a counter: its value at the mouse, else the highest of the run, which its curve is drawn to.
QString value_of_counter(const OverlayInput& input, const Track& track) {
  const auto& facts = input.model.facts();
  if (facts == nullptr) return {};
  const Run& run = *facts->run;
  const CounterTrack& counter = run.counters()[track.counter];
  if (input.cursor && input.layout.canvas.contains(*input.cursor)) {
    const auto value = value_at(run, counter, input.layout.scale(input.session.visible()).time_at(input.cursor->x()));
    return value ? counter_text(run.text(counter.name), *value) : QString{};
  }
  if (run.samples_of(counter).empty()) return {};
  const double peak = facts->lod->bounds_of_counter(track.counter).greatest;
  return QObject::tr("up to %1").arg(counter_text(run.text(counter.name), peak));
}

/// The circle that pins a lane or counter: filled if it is pinned.
void paint_pin(QPainter& painter, const ThemeColours& theme, const Track& track, const QRectF& row) {
  painter.setPen(QColor{track.pinned ? theme.text : theme.faint});
  painter.setBrush(track.pinned ? QBrush{QColor{theme.text}} : QBrush{Qt::NoBrush});
  const double y = row.top() + std::min(row.height(), 30.0) / 2;
  painter.drawEllipse(QPointF{row.right() - pin_width / 2, y}, 3.5, 3.5);
}

/// In its row, which begins at `y`; names of tall tracks stay below `first`.
void paint_name(QPainter& painter, const OverlayInput& input, const Track& track, double y, double first) {
  const ThemeColours& theme = colours_of(input.theme);
  const QRectF row{input.layout.gutter.left(), y, input.layout.gutter.width(), track.height};
  const bool header = track.kind == TrackKind::host || track.kind == TrackKind::rank;
  painter.fillRect(row & input.layout.gutter, QColor{header ? theme.header : theme.background});  // SVG does not clip
  double x = row.left() + 4 + track.indent * indent_width;
  painter.setPen(Qt::NoPen);
  painter.setBrush(QColor{theme.text});
  const double height = std::min(row.height(), 30.0);
  const double top = top_of_name(track, row, height, first);
  const bool folds = header || track.kind == TrackKind::counters || track.rows + track.deeper_rows > 1;
  if (folds) {
    paint_fold(painter, {x + 5, top + height / 2}, track.folded);
    x += fold_width;
  }
  if (header && input.header == header_of(track)) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QColor{theme.accent});
    painter.drawRect(row.adjusted(1, 0, -2, -1));
  }
  const double taken = paint_lateness(painter, input, track, row);
  QFont font = painter.font();
  font.setBold(header);
  painter.setFont(font);
  painter.setPen(QColor{theme.text});
  const QRectF room{x, top, row.right() - x - taken - pin_width, height};
  const QString name = QString::fromStdString(track.pinned ? track.full_name : track.name);
  const QString shown = painter.fontMetrics().elidedText(name, Qt::ElideMiddle, static_cast<int>(room.width()));
  if (track.kind == TrackKind::counter) {
    painter.drawText(room.adjusted(0, -1, 0, 0), Qt::AlignTop | Qt::AlignLeft, shown);
    painter.drawText(room.adjusted(0, 0, 0, 1), Qt::AlignBottom | Qt::AlignLeft, value_of_counter(input, track));
    return paint_pin(painter, theme, track, row);
  }
  painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft, shown);
  const double taken_by_name = painter.fontMetrics().horizontalAdvance(shown) + 8;
  font.setBold(false);
  painter.setFont(font);
  if (!track.note.empty() && room.width() > taken_by_name)
    painter.drawText(room.adjusted(taken_by_name, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(qt_text(track.note), Qt::ElideRight,
                                                      static_cast<int>(room.width() - taken_by_name)));
  if (track.kind != TrackKind::lane) return;
  if (track.deeper_rows > 0 && row.height() >= height + note_height)
    painter.drawText(QRectF{x, row.bottom() - note_height, room.width(), note_height}, Qt::AlignVCenter | Qt::AlignLeft,
                     QLatin1Char{'+'} + qt_text(counted(track.deeper_rows, "deeper row")));
  paint_pin(painter, theme, track, row);
}

void paint_gutter(QPainter& painter, const OverlayInput& input) {
  const ThemeColours& theme = colours_of(input.theme);
  const QRectF& gutter = input.layout.gutter;
  painter.save();
  painter.setClipRect(gutter);
  painter.fillRect(gutter, QColor{theme.background});
  const auto paint_names = [&](TrackList::Part part, double first) {
    for (const Track& track : in_sight(input.model.tracks(), input.layout, part))
      paint_name(painter, input, track, input.layout.y_of(track), first);
  };
  const double first = gutter.top() + input.layout.pinned_height;
  const auto sticky = sticky_header(input.model.tracks(), input.layout);
  paint_names(TrackList::Part::scrolled, sticky ? std::max(first, sticky->y + sticky->track->height) : first);
  if (sticky) paint_name(painter, input, *sticky->track, sticky->y, first);
  painter.fillRect(QRectF{gutter.topLeft(), QSizeF{gutter.width(), input.layout.pinned_height}},
                   QColor{theme.background});
  paint_names(TrackList::Part::pinned, gutter.top());
  painter.setPen(QColor{theme.faint});
  painter.drawLine(gutter.topRight(), gutter.bottomRight());
  painter.restore();
}

/// All of the run, with a frame around what is visible.
void paint_minimap(QPainter& painter, const OverlayInput& input) {
  const ThemeColours& theme = colours_of(input.theme);
  const QRectF& map = input.layout.minimap;
  painter.fillRect(QRectF{0, 0, map.right(), map.bottom() + input.layout.ruler.height()}, QColor{theme.background});
  painter.setPen(QColor{theme.text});
  const bool late = input.model.facts() != nullptr && !input.model.facts()->lateness.empty();
  painter.drawText(QRectF{4, 0, map.left() - 8, map.height()}, Qt::AlignVCenter | Qt::TextWordWrap,
                   late ? QObject::tr("Lateness of each rank") : QObject::tr("The whole run"));
  if (input.strip != nullptr) painter.drawImage(map.adjusted(0, 2, 0, -2), *input.strip);
  const TimeScale scale{.time = input.session.extent(), .left = map.left(), .width = map.width()};
  const double left = std::clamp(scale.x_of(input.session.visible().begin), map.left(), map.right());
  const double right = std::clamp(scale.x_of(input.session.visible().end), map.left(), map.right());
  QColor veil{theme.background};
  veil.setAlpha(140);
  painter.fillRect(QRectF{map.left(), map.top(), left - map.left(), map.height()}, veil);
  painter.fillRect(QRectF{right, map.top(), map.right() - right, map.height()}, veil);
  painter.setPen(QPen{QColor{theme.accent}, 1.5});
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF{left, map.top() + 1, std::max(2.0, right - left - 1), map.height() - 2});
}

}  // namespace

std::optional<StickyHeader> sticky_header(const TrackList& tracks, const Layout& layout) {
  const double top = layout.canvas.top() + layout.pinned_height;
  const auto is_header = [](const Track& track) { return header_of(track).has_value(); };
  constexpr double all = std::numeric_limits<double>::max();
  const auto scrolled = tracks.between(TrackList::Part::scrolled, -all, all);
  const auto begins_above = [&](const Track& track) { return layout.y_of(track) < top; };
  const auto first = std::ranges::partition_point(scrolled, begins_above);
  const auto behind_header = std::find_if(std::reverse_iterator{first}, scrolled.rend(), is_header);
  if (behind_header == scrolled.rend()) return std::nullopt;
  const Track& above = *behind_header;
  const auto next = std::find_if(first, scrolled.end(), is_header);
  // The next header pushes the one above it out of sight.
  return StickyHeader{&above, next == scrolled.end() ? top : std::min(top, layout.y_of(*next) - above.height)};
}

void paint_frame(QPainter& painter, const OverlayInput& input) {
  paint_gutter(painter, input);
  paint_minimap(painter, input);
  const Session& session = input.session;
  paint_ruler(painter, {.box = input.layout.ruler,
                        .scale = input.layout.scale(session.visible()),
                        .origin = session.extent().begin,
                        .longest = session.extent().length(),
                        .theme = input.theme});
}

}  // namespace rankscope::gui
