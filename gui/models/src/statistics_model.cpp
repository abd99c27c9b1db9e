#include "rankscope/gui/models/statistics_model.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/gui/models/span_cells.h"
#include "rankscope/gui/models/words.h"

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
  if (session_.run() == nullptr) return tr("Open a recording to see what took its time.");
  if (!answer_) return tr("Being computed...");
  const RangeQuestion& asked = answer_->question;
  const std::size_t ranks = asked.ranks_of(*session_.run()).size();
  const QString lanes = asked.lanes.empty() ? QString{} : qt_text(format(", {}", counted(asked.lanes.size(), "lane")));
  return tr("%1: %2 from %3 on, %4%5")
      .arg(session_.area() ? tr("Selected range") : tr("Visible range"), time_text(asked.range.length()),
           time_text(asked.range.begin - session_.run()->extent().begin), qt_text(counted(ranks, "rank")), lanes);
}

RankTimesModel::RankTimesModel(const Statistics& statistics, QObject* parent)
    : QAbstractTableModel(parent), statistics_(statistics) {
  connect(&statistics, &Statistics::changed, this, [this] {
    beginResetModel();
    endResetModel();
  });
}

int RankTimesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !statistics_.answer() ? 0 : static_cast<int>(statistics_.answer()->ranks.size());
}
int RankTimesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant RankTimesModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto column = static_cast<Column>(index.column());
  if (role == Qt::TextAlignmentRole && column != rank) return right_aligned();
  const bool speaks = role == Qt::DisplayRole || role == Qt::AccessibleTextRole;
  if (!speaks && role != Qt::UserRole) return {};
  const RankTimes& row = statistics_.answer()->ranks[static_cast<std::size_t>(index.row())];
  if (column == rank) return speaks ? QVariant{qt_text(format("rank {}", row.rank.value))} : QVariant{row.rank.value};
  const analyzer::TimeSplit& split = row.split;
  if (column == overlap) {
    if (split.comm_ns == 0) return speaks ? QVariant{tr("no communication")} : QVariant{-1.0};
    const double hidden = static_cast<double>(split.overlapped_comm_ns) / static_cast<double>(split.comm_ns);
    return speaks ? QVariant{percent_text(hidden)} : QVariant{hidden};
  }
  const std::array<std::int64_t, column_count> parts{0,
                                                     split.compute_ns,
                                                     split.exposed_transfer_ns,
                                                     split.exposed_wait_ns,
                                                     unsplit_ns(split),
                                                     split.memory_ns,
                                                     split.idle_ns,
                                                     split.window_ns,
                                                     0};
  const std::int64_t ns = parts[static_cast<std::size_t>(column)];
  if (!speaks) return QVariant::fromValue(static_cast<qlonglong>(ns));
  if (column == all || split.window_ns == 0 || ns == 0) return time_text(nanoseconds{ns});
  return tr("%1 (%2)").arg(time_text(nanoseconds{ns}),
                           percent_text(static_cast<double>(ns) / static_cast<double>(split.window_ns)));
}

QVariant RankTimesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  const std::array<QString, column_count> names{tr("Rank"),    tr("Compute"), tr("Moving data"),
                                                tr("Waiting"), tr("Unknown"), tr("Copies"),
                                                tr("Idle"),    tr("All"),     tr("Hidden")};
  const std::array<QString, column_count> tips{
      QString{},
      tr("Computing, whatever ran beside it"),
      tr("Communication that moves data and is not hidden behind compute"),
      tr("Waiting for other ranks inside communication, not hidden behind compute"),
      tr("Communication of which nobody knows whether it waited or moved data"),
      tr("Copies on a device beside nothing else"),
      tr("Nothing ran: what remains of the range"),
      tr("The range: the sum of the columns before"),
      tr("Share of communication behind which something computed")};
  if (role == Qt::DisplayRole) return names[static_cast<std::size_t>(section)];
  return role == Qt::ToolTipRole ? QVariant{tips[static_cast<std::size_t>(section)]} : QVariant{};
}

NameTimesModel::NameTimesModel(const Statistics& statistics, QObject* parent)
    : QAbstractTableModel(parent), statistics_(statistics) {
  connect(&statistics, &Statistics::changed, this, [this] {
    beginResetModel();
    own_ns_ = 0;
    if (statistics_.answer())
      for (const NameTimes& row : statistics_.answer()->names) own_ns_ += row.own_ns;
    endResetModel();
  });
}

int NameTimesModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() || !statistics_.answer() ? 0 : static_cast<int>(statistics_.answer()->names.size());
}
int NameTimesModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant NameTimesModel::number(const NameTimes& row, Column column) const {
  switch (column) {
    case calls:
      return QVariant::fromValue(static_cast<qlonglong>(row.count));
    case own:
      return QVariant::fromValue(static_cast<qlonglong>(row.own_ns));
    case share:
      return own_ns_ == 0 ? 0.0 : static_cast<double>(row.own_ns) / static_cast<double>(own_ns_);
    case total:
      return QVariant::fromValue(static_cast<qlonglong>(row.total_ns));
    case mean:
      return QVariant::fromValue(static_cast<qlonglong>(row.total_ns / row.count));
    case longest:
      return QVariant::fromValue(static_cast<qlonglong>(row.longest_ns));
    case name:
    case kind:
    case column_count:
      break;
  }
  return {};
}

QVariant NameTimesModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto column = static_cast<Column>(index.column());
  if (role == Qt::TextAlignmentRole && column != name && column != kind) return right_aligned();
  const bool speaks = role == Qt::DisplayRole || role == Qt::AccessibleTextRole;
  if (!speaks && role != Qt::UserRole && role != Qt::ToolTipRole) return {};
  const NameTimes& row = statistics_.answer()->names[static_cast<std::size_t>(index.row())];
  const Run& run = *statistics_.session().run();
  if (role == Qt::ToolTipRole) return column == name ? QVariant{qt_text(run.text(row.name))} : QVariant{};
  if (column == kind) return qt_text(name_of(row.kind));
  if (column == name) {
    Span alike;
    alike.name = row.name;
    alike.kind = row.kind;
    return qt_text(short_name_of(run, alike));
  }
  const QVariant value = number(row, column);
  if (!speaks) return value;
  if (column == calls) return QString::number(row.count);
  return column == share ? percent_text(value.toDouble()) : time_text(nanoseconds{value.toLongLong()});
}

QVariant NameTimesModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section < 0 || section >= column_count) return {};
  const std::array<QString, column_count> names{tr("Name"),  tr("Kind"),  tr("Calls"), tr("Own time"),
                                                tr("Share"), tr("Total"), tr("Mean"),  tr("Longest")};
  const std::array<QString, column_count> tips{
      tr("Without templates and arguments; the tooltip of a cell has all of it"),
      QString{},
      tr("That touch the range"),
      tr("Inside the range, without what is nested in it on its lane"),
      tr("Of the own time of all names"),
      tr("Inside the range; a call inside a call of the same name is not counted again"),
      tr("Total / calls"),
      tr("Of one call, inside the range")};
  if (role == Qt::DisplayRole) return names[static_cast<std::size_t>(section)];
  return role == Qt::ToolTipRole ? QVariant{tips[static_cast<std::size_t>(section)]} : QVariant{};
}

}  // namespace rankscope::gui
