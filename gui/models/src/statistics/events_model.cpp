#include "rankscope/gui/models/statistics/events_model.h"

#include <algorithm>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"

namespace rankscope::gui {

EventsModel::EventsModel(Session& session, QObject* parent)
    : TableModel(span_columns({{tr("Kind")}, {.title = tr("Depth"), .align = Align::right}}), parent),
      session_(session) {
  connect(&session, &Session::runOpened, this, &EventsModel::take_run);
  connect(&session, &Session::runChanged, this, &EventsModel::ask);
  connect(&session, &Session::visibleRangeChanged, this, &EventsModel::ask);
  connect(&session, &Session::selectionChanged, this, &EventsModel::follow_selection);
  take_run();
}

void EventsModel::take_run() {
  job_.cancel();
  beginResetModel();
  rows_.clear();
  cut_ = false;
  blocks_.reset();
  blocks_of_.reset();
  lane_.reset();
  if (session_.run() != nullptr && !session_.run()->lanes().empty()) lane_ = LaneId{0};
  endResetModel();
  Q_EMIT lanesChanged();
  Q_EMIT laneChanged();
  ask();
}

void EventsModel::follow_selection() {
  if (session_.selection()) set_lane(session_.run()->span(*session_.selection()).lane);
}

void EventsModel::set_active(bool active) {
  active_ = active;
  if (active && stale_) ask();
}

void EventsModel::set_lane(LaneId lane) {
  if (lane_ == lane) return;
  lane_ = lane;
  Q_EMIT laneChanged();
  ask();
}

void EventsModel::ask() {
  stale_ = true;
  if (!active_ || session_.run() == nullptr || !lane_) return;
  stale_ = false;
  auto blocks = blocks_of_ == session_.run() ? blocks_ : nullptr;
  job_.start([this, run = session_.run(), blocks, lane = *lane_,
              range = session_.visible()](const std::stop_token&) mutable -> LatestJob::Delivery {
    if (blocks == nullptr) blocks = std::make_shared<const LaneBlocks>(*run);
    std::vector<SpanId> found;
    blocks->over(*run, run->lane(lane), range, [&](const Span& span) {
      found.push_back(run->id_of(span));
      return found.size() <= most_listed;
    });
    return [this, run, blocks, found = std::move(found)] {
      beginResetModel();
      blocks_ = blocks;
      blocks_of_ = run;
      rows_ = found;
      cut_ = rows_.size() > most_listed;
      if (cut_) rows_.pop_back();
      endResetModel();
    };
  });
}

std::vector<EventsModel::NamedLane> EventsModel::lanes() const {
  if (session_.run() == nullptr) return {};
  const Run& run = *session_.run();
  std::vector<NamedLane> lanes;
  for (const Lane& lane : run.lanes()) lanes.push_back({path_of(run, lane), run.id_of(lane)});
  std::ranges::stable_sort(lanes, [&run](const NamedLane& a, const NamedLane& b) {
    const Lane& left = run.lane(a.lane);
    const Lane& right = run.lane(b.lane);
    if (left.process != right.process || left.kind != right.kind)
      return std::pair{left.process, left.kind} < std::pair{right.process, right.kind};
    return comes_before(run.text(left.name), run.text(right.name));
  });
  return lanes;
}

QString EventsModel::caption() const {
  if (session_.run() == nullptr || !lane_) return tr("Open a recording to see its events.");
  const QString where = path_of(*session_.run(), session_.run()->lane(*lane_));
  const QString shown = time_text(session_.visible().length());
  const QString count = qt_text(counted(rows_.size(), "event"));
  return cut_ ? tr("The first %1 of %2 in the visible %3; zoom in to see the others.").arg(count, where, shown)
              : tr("%1 of %2 in the visible %3").arg(count, where, shown);
}

int EventsModel::selected_row() const {
  if (!session_.selection()) return -1;
  const auto found = std::ranges::lower_bound(rows_, *session_.selection());
  return found == rows_.end() || *found != *session_.selection() ? -1 : static_cast<int>(found - rows_.begin());
}

void EventsModel::go_to(int row) {
  if (row >= 0 && row < rowCount()) session_.go_to(rows_[static_cast<std::size_t>(row)]);
}

QVariant EventsModel::cell(std::size_t row, int column, int role) const {
  const Run& run = *session_.run();
  const Span& span = run.span(rows_[row]);
  if (role == Qt::DisplayRole && column == kind) return qt_text(name_of(span.kind));
  if (role == Qt::DisplayRole && column == depth) return QString::number(span.depth);
  return span_cell(run, span, column, role);
}

}  // namespace rankscope::gui
