// What a click with the right button on the timeline offers.
#include <QContextMenuEvent>
#include <QMenu>
#include <optional>

#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/timeline/lane_names.h"
#include "timeline/timeline_state.h"

namespace rankscope::gui {

/// Acts on what is under the mouse: an event is selected first, so that all its commands are about it. Another run has
/// other events and lanes.
void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (model_->facts() == nullptr) return event->ignore();
  const bool by_key = event->reason() == QContextMenuEvent::Keyboard;
  const QPointF position = event->pos();
  auto* const menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setObjectName(QStringLiteral("timeline_menu"));
  connect(&session_, &Session::runOpened, menu, &QMenu::close);
  const auto range = box_of_area(state_->overlay(*this));
  const auto span = by_key ? session_.selection() : span_at(position);
  const Track* const found = by_key ? current_header() : track_at(position);
  const auto track = found == nullptr ? std::nullopt : std::optional{*found};  // selecting may make the tracks anew
  const bool about_range = by_key ? session_.area() && !span : range && range->contains(position);
  if (about_range)
    offer_range(*menu);
  else if (span)
    offer_event(*menu, *span);
  if (track) offer_rows(*menu, *track);
  if (menu->isEmpty()) offer_commands(*menu, {"fit", "back", "select_all", "find_ranks"});
  menu->popup(by_key ? mapToGlobal(rect().center()) : event->globalPos());
}

void TimelineView::offer_commands(QMenu& menu, std::initializer_list<const char*> ids) {
  for (const char* const id : ids)
    if (auto* const action = findChild<QAction*>(QString::fromLatin1(id)); action != nullptr && action->isVisible())
      menu.addAction(action);
}

void TimelineView::offer_event(QMenu& menu, SpanId span) {
  if (session_.selection() != span || session_.area()) select_only(span);
  const QString name = QString::fromStdString(short_name_of(*session_.run(), session_.run()->span(span)));
  menu.addSection(name.size() > 60 ? name.left(60) + QChar{0x2026} : name);
  offer_commands(menu, {"zoom_selection", "copy", "select_step"});
  menu.addSeparator();
  offer_commands(menu, {"next_same", "previous_same", "next_rank", "previous_rank", "follow", "follow_back"});
  menu.addAction(tr("Highlight all events with this name"), this, [this, span] {
    Filter filter = session_.filter();
    filter.text = session_.run()->text(session_.run()->span(span).name);
    session_.set_filter(std::move(filter));
  });
  menu.addSeparator();
  offer_commands(menu, {"keep_mark", "note", "operators"});
}

void TimelineView::offer_range(QMenu& menu) {
  menu.addSection(tr("Selected range of %1").arg(time_text(session_.area()->time.length())));
  offer_commands(menu, {"zoom_selection", "copy", "keep_mark", "note", "export", "operators", "clear"});
}

void TimelineView::offer_rows(QMenu& menu, const Track& track) {
  menu.addSection(qt_text(track.full_name));
  if (track.kind == TrackKind::lane) {
    const LaneId lane = track.lane;
    menu.addAction(track.pinned ? tr("Unpin this lane") : tr("Pin this lane"), this,
                   [this, lane] { session_.toggle_pin(lane); });
    menu.addAction(tr("Select the visible range of this lane"), this, [this, lane] {
      session_.select_area(Area{session_.visible(), {lane}});
    });
  }
  if (track.kind == TrackKind::counter)
    menu.addAction(track.pinned ? tr("Unpin this counter") : tr("Pin this counter"), this,
                   [this, counter = track.counter] { session_.toggle_counter_pin(counter); });
  if (track.kind == TrackKind::lane || track.kind == TrackKind::counter) offer_places(menu, track);
  if (model_->hidden_count() > 0)
    menu.addAction(tr("Show hidden lanes (%1)").arg(model_->hidden_count()), this, [this] { model_->show_hidden(); });
  if (!model_->chosen_lanes().empty()) menu.addAction(tr("Show all lanes"), this, [this] { Q_EMIT lanesChosen({}); });
  if (header_of(track) || track.kind == TrackKind::counters)
    menu.addAction(track.folded ? tr("Unfold") : tr("Fold"), this, [this, track] { model_->toggle_fold(track); });
  if (!track.rank.is_set() || track.others > 0) return offer_commands(menu, {"fold", "unfold"});
  const RankId rank = track.rank;
  menu.addAction(tr("Show only rank %1").arg(rank.value), this,
                 [this, rank] { Q_EMIT ranksChosen(QString::number(rank.value)); });
  if (!session_.filter().ranks.empty()) menu.addAction(tr("Show all ranks"), this, [this] { Q_EMIT ranksChosen({}); });
  offer_commands(menu, {"fold", "unfold"});
}

/// Where a lane or counter stands, if anywhere. A copy at the top is unpinned, not hidden.
void TimelineView::offer_places(QMenu& menu, const Track& track) {
  if (!track.pinned) menu.addAction(tr("Hide"), this, [this, track] { model_->hide(track); });
  menu.addAction(tr("Show only lanes with this name"), this,
                 [this, name = qt_text(shared_title(track.name))] { Q_EMIT lanesChosen(name); });
  if (track.kind != TrackKind::lane || track.pinned) return;
  menu.addAction(tr("Move up"), this, [this, track] { model_->move_lane(track, TimelineModel::Side::above); });
  menu.addAction(tr("Move down"), this, [this, track] { model_->move_lane(track, TimelineModel::Side::below); });
  if (track.rows + track.deeper_rows > 1)
    menu.addAction(track.folded ? tr("Show all rows") : tr("Show one row"), this,
                   [this, track] { model_->toggle_fold(track); });
}

}  // namespace rankscope::gui
