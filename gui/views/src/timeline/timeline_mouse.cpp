// Mouse and wheel of the timeline.
#include <QHelpEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/time_text.h"
#include "rankscope/gui/models/base/words.h"
#include "timeline/timeline_state.h"

namespace rankscope::gui {
namespace {

constexpr double click_distance = 4;  // pixels that the hand may tremble
constexpr double reach = 3;           // pixels around a span that still hit it
constexpr double notch = 120;         // eighths of a degree, as QWheelEvent has them
constexpr double zoom_per_notch = 0.8;
constexpr double pixels_per_notch = 60;

}  // namespace

TimelineView::Grip TimelineView::grip_at(QPointF position, Qt::KeyboardModifiers modifiers) const {
  const Layout& layout = state_->layout;
  if (layout.minimap.contains(position)) return Grip::minimap;
  if (layout.ruler.contains(position)) return Grip::ruler;
  if (!layout.canvas.contains(position)) return Grip::none;
  if (modifiers.testFlag(Qt::ShiftModifier)) return Grip::pan;
  return end_opposite(position) ? Grip::edge : Grip::area;
}

const Track* TimelineView::track_at(QPointF position) const {
  const Layout& layout = state_->layout;
  const double below = position.y() - layout.canvas.top();
  if (below < 0) return nullptr;
  if (below < layout.pinned_height) return model_->tracks().at(TrackList::Part::pinned, below);
  const auto sticky = sticky_header(model_->tracks(), layout);
  const bool in_names = layout.gutter.contains(position);
  if (sticky && in_names && position.y() >= sticky->y && position.y() < sticky->y + sticky->track->height)
    return sticky->track;
  return model_->tracks().at(TrackList::Part::scrolled, below - layout.pinned_height + layout.scroll);
}

std::optional<SpanId> TimelineView::span_at(QPointF position) const {
  const auto& facts = model_->facts();
  const Track* const track = track_at(position);
  if (facts == nullptr || track == nullptr || !track->lane.is_set() || !state_->layout.canvas.contains(position))
    return std::nullopt;
  const double below = position.y() - state_->layout.y_of(*track);
  const bool on_comm = track->comm_lane.is_set() && below > track->height / 2;
  const auto& rows = facts->lod->lane(on_comm ? track->comm_lane : track->lane).rows;
  const auto row = on_comm ? track->comm_row
                   : track->kind == TrackKind::rank
                       ? track->first_row
                       : static_cast<std::uint32_t>(std::max(0.0, below / model_->row_height()));
  if (row >= rows.size()) return std::nullopt;
  const TimeScale scale = state_->layout.scale(session_.visible());
  const auto place =
      rows[row].at(scale.time_at(position.x()), nanoseconds{static_cast<std::int64_t>(reach * scale.ns_per_pixel())});
  return place ? std::optional{rows[row].id(*place)} : std::nullopt;
}

void TimelineView::press_gutter(QPointF position) {
  const Track* const found = track_at(position);
  if (found == nullptr) return;
  const Track track = *found;  // what follows makes the tracks anew
  if (position.x() > state_->layout.gutter.right() - pin_width) {
    if (track.kind == TrackKind::lane) return session_.toggle_pin(track.lane);
    if (track.kind == TrackKind::counter) return session_.toggle_counter_pin(track.counter);
  }
  const bool has_rows = track.kind == TrackKind::lane && track.rows + track.deeper_rows > 1;
  if (header_of(track) || track.kind == TrackKind::counters || has_rows) model_->toggle_fold(track);
  if (!header_of(track)) return;
  // It may have been clicked where it stands above its rows: these are gone.
  if (const Track* const now = model_->tracks().of_header(*header_of(track)); now != nullptr && now->y < bar_->value())
    bar_->setValue(static_cast<int>(now->y));
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || model_->facts() == nullptr) return event->ignore();
  setFocus(Qt::MouseFocusReason);
  state_->pressed = state_->last = event->position();
  state_->moved = false;
  state_->grip = grip_at(event->position(), event->modifiers());
  state_->pressed_span = span_at(event->position());
  if (state_->grip == Grip::edge) state_->fixed = *end_opposite(event->position());
  if (state_->layout.gutter.contains(event->position())) press_gutter(event->position());
  if (state_->grip == Grip::minimap) centre_minimap(event->position().x());
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const QPointF position = event->position();
  state_->cursor = position;
  state_->moved = state_->moved || (position - state_->pressed).manhattanLength() >= click_distance;
  switch (state_->grip) {
    case Grip::none:
      end_opposite(position) ? setCursor(Qt::SplitHCursor) : unsetCursor();
      break;
    case Grip::edge:
      if (state_->moved) move_edge(position, event->modifiers());
      break;
    case Grip::pan:
      navigator_->pan(state_->last.x() - position.x());
      scroll(state_->last.y() - position.y());
      break;
    case Grip::minimap:
      centre_minimap(position.x());
      break;
    case Grip::area:
    case Grip::ruler:
      if (state_->moved) draw_area(position, event->modifiers());
      break;
  }
  state_->last = position;
  update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return event->ignore();
  if (state_->drag) draw_area(event->position(), event->modifiers());
  const Grip grip = std::exchange(state_->grip, Grip::none);
  if (state_->drag) {
    finish_area();
  } else if ((grip == Grip::area || grip == Grip::edge) && !state_->moved &&
             (event->position() - state_->pressed).manhattanLength() < click_distance) {
    const auto* const step = step_under(event->position());
    step != nullptr ? select_step(*step) : select_only(span_at(event->position()));
  }
  state_->drag.reset();
  update();
}

void TimelineView::centre_minimap(double x) {
  const QRectF& map = state_->layout.minimap;
  const TimeScale all{.time = session_.extent(), .left = map.left(), .width = map.width()};
  navigator_->centre(all.time_at(std::clamp(x, map.left(), map.right())));
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return event->ignore();
  if (state_->layout.gutter.contains(event->position())) return press_gutter(event->position());
  if (const auto* const step = step_under(event->position())) {
    select_step(*step);
    return navigator_->zoom_to_selection();
  }
  // What the first click selected, even if other rows are there since.
  const bool is_first = state_->pressed_span && session_.selection() == state_->pressed_span;
  const auto span = is_first ? state_->pressed_span : span_at(event->position());
  if (!span) return;
  select_only(span);
  navigator_->zoom_to_selection();
}

void TimelineView::leaveEvent(QEvent*) {
  state_->cursor.reset();
  update();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPointF delta = event->pixelDelta().isNull() ? QPointF{event->angleDelta()} / notch * pixels_per_notch
                                                     : QPointF{event->pixelDelta()};
  const Qt::KeyboardModifiers modifiers = event->modifiers();
  if (modifiers.testFlag(Qt::ControlModifier)) {
    const double notches = delta.y() / pixels_per_notch;
    if (modifiers.testFlag(Qt::ShiftModifier))
      model_->set_row_height(model_->row_height() + notches * 2);
    else
      navigator_->zoom(std::pow(zoom_per_notch, notches), event->position().x() - state_->layout.canvas.left());
  } else if (modifiers.testFlag(Qt::ShiftModifier)) {
    navigator_->pan(-(delta.x() + delta.y()));
  } else {
    if (delta.x() != 0) navigator_->pan(-delta.x());
    scroll(-delta.y());
  }
  event->accept();
}

QString TimelineView::tip_at(QPointF position) const {
  const auto& facts = model_->facts();
  const Track* const track = track_at(position);
  if (facts == nullptr || track == nullptr) return {};
  if (state_->layout.gutter.contains(position)) return QString::fromStdString(model_->spoken(*track));
  const Run& run = *facts->run;
  if (track->kind == TrackKind::counter) {
    const CounterTrack& counter = run.counters()[track->counter];
    const auto value = value_at(run, counter, state_->layout.scale(session_.visible()).time_at(position.x()));
    const QString name = QString::fromStdString(track->full_name);
    return value ? name + QStringLiteral("\n") + counter_text(run.text(counter.name), *value) : name;
  }
  if (const auto* const step = step_under(position))
    return qt_text(format("step {}\n{}\n{}", step->index, duration_text(step->window.length()), track->full_name));
  const auto id = span_at(position);
  if (!id) return {};
  const Span& span = run.span(*id);
  std::string text = format("{}\n{}, {}", run.text(span.name), name_of(span.kind), duration_text(span.time.length()));
  const TimeScale scale = state_->layout.scale(session_.visible());
  const auto pixel = nanoseconds{static_cast<std::int64_t>(std::ceil(scale.ns_per_pixel()))};
  const lod::RowLod& row = facts->lod->lane(span.lane).rows[facts->lod->place_of(*id).row];
  const RunTime begin = scale.time_at(std::floor(position.x()));
  const std::size_t here = row.count_in({begin, begin + pixel});
  if (here > 1) text += format("\n{} begin in this pixel", counted(here, "event"));
  if (span.collective < facts->wait_ends.size()) {
    const nanoseconds waited = facts->wait_ends[span.collective] - run.collectives()[span.collective].started;
    if (waited > nanoseconds{0}) text += format("\nwaited {} for other ranks", duration_text(waited));
  }
  return QString::fromStdString(text + "\n" + track->full_name);
}

bool TimelineView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  const QString tip = tip_at(help->pos());
  if (tip.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), tip, this);
  return true;
}

}  // namespace rankscope::gui
