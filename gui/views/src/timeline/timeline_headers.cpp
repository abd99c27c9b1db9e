// Hosts and ranks by keyboard, and what assistive technology is told of the timeline.
#include <QScrollBar>
#include <algorithm>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/time_text.h"
#include "timeline/timeline_state.h"

namespace rankscope::gui {

/// The one that was gone to, else the rank of the selected span; null: none.
const Track* TimelineView::current_header() const {
  const auto& facts = model_->facts();
  if (facts == nullptr) return nullptr;
  if (state_->header) return model_->tracks().of_header(*state_->header);
  if (!session_.selection() || facts->run != session_.run()) return nullptr;
  const Lane& lane = facts->run->lane(facts->run->span(*session_.selection()).lane);
  return model_->tracks().of_header({.kind = TrackKind::rank, .process = lane.process});
}

void TimelineView::go_to_header(const Track& track) {
  state_->header = header_of(track);
  const double room = state_->layout.canvas.height() - state_->layout.pinned_height;
  if (track.y < bar_->value() || track.y + track.height > bar_->value() + room)
    bar_->setValue(static_cast<int>(track.y));
  setAccessibleDescription(QString::fromStdString(model_->spoken(track)));
  update();
}

void TimelineView::next_header(Direction direction) {
  std::vector<const Track*> headers;
  for (const Track& track : model_->tracks().tracks)
    if (header_of(track)) headers.push_back(&track);
  if (headers.empty()) return;
  const auto current = std::ranges::find(headers, current_header());
  if (current == headers.end()) {
    const auto in_sight = std::ranges::find_if(headers, [this](const Track* one) { return one->y >= bar_->value(); });
    return go_to_header(in_sight == headers.end() ? *headers.back() : **in_sight);
  }
  if (direction == Direction::forward && current + 1 != headers.end()) return go_to_header(**(current + 1));
  if (direction == Direction::back && current != headers.begin()) return go_to_header(**(current - 1));
}

void TimelineView::toggle_fold() {
  if (current_header() == nullptr) next_header(Direction::forward);
  const Track* const found = current_header();
  if (found == nullptr) return;
  const Track track = *found;  // what follows makes the tracks anew
  model_->toggle_fold(track);
  if (const Track* const folded = model_->tracks().of_header(*header_of(track))) go_to_header(*folded);
}

void TimelineView::describe_selection() {
  if (state_->header) return;  // said already
  const auto& facts = model_->facts();
  if (!session_.selection() || facts == nullptr || facts->run != session_.run())
    return setAccessibleDescription(tr("All ranks on one time axis. Press F1 for the keys."));
  const Run& run = *facts->run;
  const Span& span = run.span(*session_.selection());
  std::string text = format("{}, {}, {}", run.text(span.name), name_of(span.kind), duration_text(span.time.length()));
  if (const Track* const track = model_->tracks().of_lane(span.lane, run))
    text += format("; {}", model_->spoken(*track));
  if (!box_of(*session_.selection())) text += "; the row of the event is not drawn";
  setAccessibleDescription(QString::fromStdString(text));
}

}  // namespace rankscope::gui
