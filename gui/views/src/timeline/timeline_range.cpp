// Ranges of time in the timeline: drawn with the mouse, moved by their ends, or taken from the row of steps.
#include <algorithm>
#include <cmath>

#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/session/moments.h"
#include "rankscope/gui/models/timeline/snap.h"
#include "timeline/timeline_state.h"

namespace rankscope::gui {
namespace {

constexpr double snap_distance = 6;  // pixels
constexpr double grab_distance = 4;  // pixels around an end of the range that take hold of it

}  // namespace

const analyzer::StepWindow* TimelineView::step_under(QPointF position) const {
  const auto& facts = model_->facts();
  const Track* const track = track_at(position);
  if (facts == nullptr || track == nullptr || track->kind != TrackKind::steps) return nullptr;
  if (!state_->layout.canvas.contains(position)) return nullptr;
  const RunTime moment = state_->layout.scale(session_.visible()).time_at(position.x());
  return step_at(facts->report.get(), track->rank, moment);
}

void TimelineView::select_step(const analyzer::StepWindow& step) {
  session_.select(std::nullopt);
  session_.select_area(area_of_step(*session_.run(), step));
}

void TimelineView::select_only(std::optional<SpanId> span) {
  session_.select_area(std::nullopt);
  session_.select(span);
}

RunTime TimelineView::edge_for(QPointF position, Qt::KeyboardModifiers modifiers) const {
  const QRectF& canvas = state_->layout.canvas;
  const TimeScale scale = state_->layout.scale(session_.visible());
  const RunTime moment = scale.time_at(std::clamp(position.x(), canvas.left(), canvas.right()));
  const auto& facts = model_->facts();
  if (facts == nullptr || modifiers.testFlag(Qt::ControlModifier)) return moment;
  SnapTo to;
  const Track* const track = canvas.contains(position) ? track_at(position) : nullptr;
  if (track != nullptr && track->rank.is_set()) to.ranks.push_back(track->rank);
  if (track != nullptr && track->lane.is_set()) {
    to.lane = track->lane;
    to.first_row = track->first_row;
    to.rows = track->rows;
  }
  if (track == nullptr)  // in the ruler: all ranks that are in sight
    for (const TrackList::Part part : both_parts)
      for (const Track& one : in_sight(model_->tracks(), state_->layout, part))
        if (one.rank.is_set() && (to.ranks.empty() || to.ranks.back() != one.rank)) to.ranks.push_back(one.rank);
  return snapped(*facts, to, moment, nanoseconds{static_cast<std::int64_t>(snap_distance * scale.ns_per_pixel())});
}

/// At least as high as a pixel, so that a level line is a range, too.
void TimelineView::draw_area(QPointF to, Qt::KeyboardModifiers modifiers) {
  const QRectF& canvas = state_->layout.canvas;
  const TimeScale scale = state_->layout.scale(session_.visible());
  const double first = scale.x_of(edge_for(state_->pressed, modifiers));
  const double last = scale.x_of(edge_for(to, modifiers));
  const bool all_rows = state_->grip == Grip::ruler;
  const double top =
      all_rows ? canvas.top() : std::clamp(std::min(state_->pressed.y(), to.y()), canvas.top(), canvas.bottom());
  const double bottom =
      all_rows ? canvas.bottom() : std::clamp(std::max(state_->pressed.y(), to.y()), canvas.top(), canvas.bottom());
  state_->drag = QRectF{std::min(first, last), top, std::abs(last - first), std::max(1.0, bottom - top)};
}

/// The lanes that the rectangle touches.
void TimelineView::finish_area() {
  const QRectF box = *state_->drag;
  const TimeScale scale = state_->layout.scale(session_.visible());
  Area area{{scale.time_at(box.left()), scale.time_at(box.right())}, {}};
  for (const TrackList::Part part : both_parts)
    for (const Track& track : in_sight(model_->tracks(), state_->layout, part)) {
      const double y = state_->layout.y_of(track);
      if (!track.lane.is_set() || y >= box.bottom() || y + track.height <= box.top()) continue;
      area.lanes.push_back(track.lane);
      if (track.comm_lane.is_set()) area.lanes.push_back(track.comm_lane);
    }
  std::ranges::sort(area.lanes);
  area.lanes.erase(std::unique(area.lanes.begin(), area.lanes.end()), area.lanes.end());
  if (area.time.empty() || area.lanes.empty()) return session_.select_area(std::nullopt);
  session_.select_area(std::move(area));
}

std::optional<RunTime> TimelineView::end_opposite(QPointF position) const {
  const auto& area = session_.area();
  if (!area || !state_->layout.canvas.contains(position)) return std::nullopt;
  const auto box = box_of_area(state_->overlay(*this));
  if (!box || position.y() < box->top() || position.y() > box->bottom()) return std::nullopt;
  const TimeScale scale = state_->layout.scale(session_.visible());
  const double to_begin = std::abs(position.x() - scale.x_of(area->time.begin));
  const double to_end = std::abs(position.x() - scale.x_of(area->time.end));
  if (std::min(to_begin, to_end) > grab_distance) return std::nullopt;
  return to_begin < to_end ? area->time.end : area->time.begin;
}

/// Its lanes stay.
void TimelineView::move_edge(QPointF to, Qt::KeyboardModifiers modifiers) {
  if (!session_.area()) return;
  const RunTime moved = edge_for(to, modifiers);
  Area area = *session_.area();
  area.time = {std::min(state_->fixed, moved), std::max(state_->fixed, moved)};
  if (!area.time.empty()) session_.select_area(std::move(area));
}

}  // namespace rankscope::gui
