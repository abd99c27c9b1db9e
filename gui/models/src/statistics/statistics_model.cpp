#include "rankscope/gui/models/statistics/statistics_model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"

namespace rankscope::gui {
namespace {

/// Of exposed communication: what is neither known to be a wait nor a transfer.
std::int64_t unsplit_ns(const analyzer::TimeSplit& split) {
  return split.exposed_comm_ns - split.exposed_wait_ns - split.exposed_transfer_ns;
}

}  // namespace

Statistics::Statistics(Session& session, QObject* parent)
    : QObject(parent), session_(session), looks_(CloserLooks::of(session)) {
  connect(&session, &Session::runOpened, this, &Statistics::forget);
  connect(&session, &Session::runChanged, this, &Statistics::ask);
  connect(&session, &Session::areaChanged, this, &Statistics::ask);
  connect(&session, &Session::visibleRangeChanged, this, [this] {
    if (!session_.area()) ask();
  });
  connect(&session, &Session::filterChanged, this, &Statistics::ask);
  connect(&looks_, &CloserLooks::changed, this, &Statistics::ask);
}

void Statistics::set_active(bool active) {
  active_ = active;
  if (active && stale_) ask();
  if (!active && job_.busy()) {
    job_.cancel();
    stale_ = true;
  }
}

void Statistics::forget() {
  job_.cancel();
  blocks_.reset();
  blocks_of_.reset();
  if (std::exchange(answer_, std::nullopt)) Q_EMIT changed();
}

RangeQuestion Statistics::question() const {
  const auto& area = session_.area();
  RangeQuestion question{area ? area->time : session_.visible(), session_.filter().ranks, {}};
  if (area && !area->lanes.empty()) {
    question.lanes = area->lanes;
    question.ranks.clear();
    for (const LaneId lane : area->lanes)
      if (const RankId rank = session_.run()->lane(lane).rank; rank.is_set()) question.ranks.push_back(rank);
  }
  std::ranges::sort(question.ranks);
  question.ranks.erase(std::ranges::unique(question.ranks).begin(), question.ranks.end());
  return question;
}

void Statistics::ask() {
  stale_ = true;
  if (!active_ || session_.run() == nullptr) return;
  stale_ = false;
  const auto blocks = blocks_of_ == session_.run() ? blocks_ : nullptr;
  job_.start([this, asked = question(), source = RangeSource{session_.run(), blocks, looks_.look()}](
                 const std::stop_token& stop) mutable -> LatestJob::Delivery {
    if (source.blocks == nullptr) source.blocks = std::make_shared<const LaneBlocks>(*source.run);
    auto found = gui::answer(source, asked, stop);
    if (!found) return {};
    return [this, source, found = *std::move(found)] {
      blocks_ = source.blocks;
      blocks_of_ = source.run;
      answer_ = found;
      Q_EMIT changed();
    };
  });
}

QString Statistics::caption() const {
  if (session_.run() == nullptr) return tr("Open a recording to see where its time went.");
  if (!answer_) return tr("Computing...");
  const RangeQuestion& asked = answer_->question;
  const std::size_t ranks = asked.ranks_of(*session_.run()).size();
  const QString lanes = asked.lanes.empty() ? QString{} : qt_text(format(", {}", counted(asked.lanes.size(), "lane")));
  return tr("%1: %2 starting at %3, %4%5")
      .arg(session_.area() ? tr("Selected range") : tr("Visible range"), time_text(asked.range.length()),
           time_text(asked.range.begin - session_.run()->extent().begin), qt_text(counted(ranks, "rank")), lanes);
}

RankTimesModel::RankTimesModel(const Statistics& statistics, QObject* parent)
    : TableModel({{tr("Rank")},
                  {tr("Compute"), tr("Compute time, whatever else runs at the same time"), Align::right},
                  {tr("Communication (transfer)"), tr("Communication that moves data and is not hidden by compute"),
                   Align::right},
                  {tr("Communication (wait)"), tr("Waiting for other ranks in communication, not hidden by compute"),
                   Align::right},
                  {tr("Communication (not split)"),
                   tr("Exposed communication that cannot be split into wait and transfer"), Align::right},
                  {tr("Copies"), tr("Copies on the device while nothing else runs on it"), Align::right},
                  {tr("Idle"), tr("The rest of the range, in which nothing runs"), Align::right},
                  {tr("All"), tr("The whole range: the sum of the columns to the left"), Align::right},
                  {tr("Hidden"), tr("Share of the communication time that is hidden by compute"), Align::right}},
                 parent),
      statistics_(statistics) {
  connect(&statistics, &Statistics::changed, this, [this] {
    beginResetModel();
    endResetModel();
  });
}

QVariant RankTimesModel::cell(std::size_t row, int column, int role) const {
  const bool shown = role == Qt::DisplayRole;
  if (!shown && role != Qt::UserRole) return {};
  const RankTimes& one = statistics_.answer()->ranks[row];
  if (column == rank) return shown ? QVariant{qt_text(format("rank {}", one.rank.value))} : QVariant{one.rank.value};
  const analyzer::TimeSplit& split = one.split;
  if (column == overlap) {
    if (split.comm_ns == 0) return shown ? QVariant{tr("no communication")} : QVariant{-1.0};
    const double hidden = static_cast<double>(split.overlapped_comm_ns) / static_cast<double>(split.comm_ns);
    return shown ? QVariant{percent_text(hidden)} : QVariant{hidden};
  }
  const std::array parts{split.compute_ns,  split.exposed_transfer_ns, split.exposed_wait_ns,
                         unsplit_ns(split), split.memory_ns,           split.idle_ns,
                         split.window_ns};
  const std::int64_t ns = parts[static_cast<std::size_t>(column - compute)];
  if (!shown) return QVariant::fromValue(static_cast<qlonglong>(ns));
  if (column == all || split.window_ns == 0 || ns == 0) return time_text(nanoseconds{ns});
  return tr("%1 (%2)").arg(time_text(nanoseconds{ns}),
                           percent_text(static_cast<double>(ns) / static_cast<double>(split.window_ns)));
}

NameTimesModel::NameTimesModel(const Statistics& statistics, QObject* parent)
    : TableModel(
          {{tr("Name"), tr("Without templates and arguments; the tooltip of a cell shows the full name")},
           {tr("Kind")},
           {tr("Calls"), tr("Calls that overlap the range"), Align::right},
           {tr("Self time"), tr("Time inside the range, without events nested on the same lane"), Align::right},
           {tr("Share"), tr("Share of the self time of all names"), Align::right},
           {tr("Total"), tr("Time inside the range; calls nested in a call of the same name are not counted again"),
            Align::right},
           {tr("Mean"), tr("Total time divided by the number of calls"), Align::right},
           {tr("Longest"), tr("Duration of the longest call, without any part outside the range"), Align::right}},
          parent),
      statistics_(statistics) {
  connect(&statistics, &Statistics::changed, this, [this] {
    beginResetModel();
    self_ns_ = 0;
    if (statistics_.answer())
      for (const NameTimes& row : statistics_.answer()->names) self_ns_ += row.self_ns;
    endResetModel();
  });
}

QVariant NameTimesModel::number(const NameTimes& row, Column column) const {
  switch (column) {
    case calls:
      return QVariant::fromValue(static_cast<qlonglong>(row.count));
    case own:
      return QVariant::fromValue(static_cast<qlonglong>(row.self_ns));
    case share:
      return self_ns_ == 0 ? 0.0 : static_cast<double>(row.self_ns) / static_cast<double>(self_ns_);
    case total:
      return QVariant::fromValue(static_cast<qlonglong>(row.total_ns));
    case mean:
      return QVariant::fromValue(static_cast<qlonglong>(row.total_ns / row.count));
    case longest:
      return QVariant::fromValue(static_cast<qlonglong>(row.longest_ns));
    case name:
    case kind:
      break;
  }
  return {};
}

QVariant NameTimesModel::cell(std::size_t row, int column, int role) const {
  const NameTimes& one = statistics_.answer()->names[row];
  const Run& run = *statistics_.session().run();
  if (role == Qt::ToolTipRole) return column == name ? QVariant{qt_text(run.text(one.name))} : QVariant{};
  if (role != Qt::DisplayRole && role != Qt::UserRole) return {};
  if (column == kind) return qt_text(name_of(one.kind));
  if (column == name) {
    Span same_name;
    same_name.name = one.name;
    same_name.kind = one.kind;
    return qt_text(short_name_of(run, same_name));
  }
  const QVariant value = number(one, static_cast<Column>(column));
  if (role == Qt::UserRole) return value;
  if (column == calls) return QString::number(one.count);
  return column == share ? percent_text(value.toDouble()) : time_text(nanoseconds{value.toLongLong()});
}

}  // namespace rankscope::gui
