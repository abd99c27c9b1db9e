#include "rankscope/gui/models/flame/flame_model.h"

#include <QLocale>
#include <algorithm>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"

namespace rankscope::gui {
namespace {

const std::vector<TableColumn>& flame_columns() {
  static const std::vector<TableColumn> all{
      {FlameModel::tr("Name"), FlameModel::tr("Name of the call; the calls nested in it are listed below it")},
      {FlameModel::tr("Time"), FlameModel::tr("Time inside the range"), Align::right},
      {FlameModel::tr("Share"), FlameModel::tr("Share of the time of all lanes in the graph"), Align::right},
      {FlameModel::tr("Self time"), FlameModel::tr("Time inside the range, without nested calls"), Align::right},
      {FlameModel::tr("Calls"), FlameModel::tr("Calls that overlap the range"), Align::right},
      {FlameModel::tr("Longest"), FlameModel::tr("Duration of the longest call, without any part outside the range"),
       Align::right}};
  return all;
}

}  // namespace

FlameModel::FlameModel(Session& session, QObject* parent) : QAbstractItemModel(parent), session_(session) {
  connect(&session, &Session::runOpened, this, &FlameModel::forget);
  connect(&session, &Session::runChanged, this, &FlameModel::ask);
  connect(&session, &Session::areaChanged, this, &FlameModel::ask);
  connect(&session, &Session::visibleRangeChanged, this, &FlameModel::ask);
  connect(&session, &Session::selectionChanged, this, &FlameModel::follow_selection);
  forget();
}

void FlameModel::forget() {
  job_.cancel();
  blocks_.reset();
  blocks_of_.reset();
  rank_.reset();
  if (session_.run() != nullptr && !session_.run()->ranks().empty()) rank_ = session_.run()->ranks().front();
  take(nullptr);
  Q_EMIT ranksChanged();
  ask();
}

void FlameModel::follow_selection() {
  if (!session_.selection()) return;
  const Run& run = *session_.run();
  const auto row = std::ranges::find(run.ranks(), run.lane(run.span(*session_.selection()).lane).rank);
  if (row != run.ranks().end()) set_rank_row(static_cast<int>(row - run.ranks().begin()));
}

void FlameModel::set_active(bool active) {
  active_ = active;
  if (active && stale_) ask();
}

QStringList FlameModel::ranks() const {
  QStringList names;
  if (session_.run() != nullptr)
    for (const RankId rank : session_.run()->ranks()) names.append(qt_text(format("rank {}", rank.value)));
  return names;
}

int FlameModel::rank_row() const {
  if (!rank_) return -1;
  const auto all = session_.run()->ranks();
  return static_cast<int>(std::ranges::find(all, *rank_) - all.begin());
}

void FlameModel::set_rank_row(int row) {
  if (session_.run() == nullptr || row < 0 || row >= std::ssize(session_.run()->ranks())) return;
  const RankId chosen = session_.run()->ranks()[static_cast<std::size_t>(row)];
  if (rank_ == chosen) return;
  rank_ = chosen;
  Q_EMIT rankChanged();
  ask();
}

FlameQuestion FlameModel::question() const {
  const auto& area = session_.area();
  FlameQuestion question{*rank_, area ? area->time : session_.visible(), {}};
  if (!area) return question;
  const Run& run = *session_.run();
  for (const LaneId lane : area->lanes)
    if (run.lane(lane).rank == *rank_) question.lanes.push_back(lane);
  return question;
}

void FlameModel::ask() {
  stale_ = true;
  if (!active_ || !rank_) return;
  stale_ = false;
  auto blocks = blocks_of_ == session_.run() ? blocks_ : nullptr;
  job_.start([this, run = session_.run(), blocks,
              asked = question()](const std::stop_token& stop) mutable -> LatestJob::Delivery {
    if (blocks == nullptr) blocks = std::make_shared<const LaneBlocks>(*run);
    auto found = flame_tree(*run, *blocks, asked, stop);
    if (!found) return {};
    return [this, run, blocks, tree = std::make_shared<const FlameTree>(*std::move(found))] {
      blocks_ = blocks;
      blocks_of_ = run;
      take(tree);
    };
  });
}

void FlameModel::take(std::shared_ptr<const FlameTree> tree) {
  beginResetModel();
  const std::uint32_t before = top_;
  const bool same_rank = tree_ != nullptr && tree != nullptr && tree_->question.rank == tree->question.rank;
  top_ = same_rank ? tree->like(*tree_, before) : 0;
  tree_ = std::move(tree);
  endResetModel();
  Q_EMIT topChanged();
}

QString FlameModel::caption() const {
  if (tree_ == nullptr) return {};
  const FlameFrame& all = tree_->frame(0);
  std::int64_t all_calls = 0;
  for (const FlameFrame& frame : tree_->frames) all_calls += frame.count;
  return tr("%1: %2 starting at %3, %4 in %5 of %6")
      .arg(session_.area() ? tr("Selected range") : tr("Visible range"), time_text(tree_->question.range.length()),
           time_text(tree_->question.range.begin - session_.run()->extent().begin), qt_text(counted(all_calls, "call")),
           qt_text(counted(all.children.size(), "lane")), label(0));
}

QString FlameModel::why_empty() const {
  if (tree_ != nullptr) return tree_->frames.size() > 1 ? QString{} : tr("%1 ran nothing in this range.").arg(label(0));
  if (session_.run() == nullptr) return tr("Open a recording to see what its ranks ran.");
  return rank_ ? tr("Adding up the calls...") : tr("No process in this recording has a rank.");
}

QString FlameModel::label(std::uint32_t frame) const {
  const FlameFrame& one = tree_->frame(frame);
  const Run& run = *session_.run();
  if (frame == 0) return qt_text(format("rank {}", tree_->question.rank.value));
  if (one.parent == 0) return qt_text(run.text(run.lane(one.lane).name));
  if (one.kind == SpanKind::step) return tr("step");
  Span alike;
  alike.name = one.name;
  alike.kind = one.kind;
  return qt_text(short_name_of(run, alike));
}

QString FlameModel::full_name(std::uint32_t frame) const {
  const StringId recorded = tree_->frame(frame).name;
  return recorded.is_set() ? qt_text(session_.run()->text(recorded)) : label(frame);
}

double FlameModel::share_of(const FlameFrame& frame) const {
  const std::int64_t all = tree_->frame(0).total_ns;
  return all > 0 ? static_cast<double>(frame.total_ns) / static_cast<double>(all) : 0;
}

QString FlameModel::sentence(std::uint32_t frame) const {
  const FlameFrame& one = tree_->frame(frame);
  QString text = tr("%1: %2 (%3 of %4)")
                     .arg(label(frame), time_text(nanoseconds{one.total_ns}), percent_text(share_of(one)), label(0));
  if (one.count == 0) return text;
  text += tr("\n%1 of it outside nested calls\n%2, the longest %3")
              .arg(time_text(nanoseconds{one.self_ns}), qt_text(counted(one.count, "call")),
                   time_text(nanoseconds{one.longest_ns}));
  const QString full = full_name(frame);
  return full == label(frame) ? text : text + QLatin1Char{'\n'} + full;
}

std::optional<std::uint32_t> FlameModel::selected_frame() const {
  if (tree_ == nullptr || !session_.selection()) return std::nullopt;
  return tree_->frame_of(*session_.run(), *session_.selection());
}

void FlameModel::zoom_to(std::uint32_t frame) {
  if (tree_ == nullptr || frame >= tree_->frames.size() || frame == top_) return;
  top_ = frame;
  Q_EMIT topChanged();
}

void FlameModel::go_to_longest(std::uint32_t frame) {
  if (tree_ == nullptr || frame >= tree_->frames.size()) return;
  if (const SpanId span = tree_->frame(frame).longest; span.is_set()) session_.go_to(span);
}

void FlameModel::search_in_timeline(std::uint32_t frame) {
  if (tree_ == nullptr || frame >= tree_->frames.size() || tree_->frame(frame).count == 0) return;
  Filter filter = session_.filter();
  filter.text = session_.run()->text(tree_->frame(frame).name);
  session_.set_filter(std::move(filter));
}

QModelIndex FlameModel::index_of(std::uint32_t frame) const {
  if (tree_ == nullptr) return {};
  if (frame == 0) return createIndex(0, 0, quintptr{0});
  const auto& siblings = tree_->frame(tree_->frame(frame).parent).children;
  return createIndex(static_cast<int>(std::ranges::find(siblings, frame) - siblings.begin()), 0, quintptr{frame});
}

QModelIndex FlameModel::index(int row, int column, const QModelIndex& parent) const {
  if (!hasIndex(row, column, parent)) return {};
  if (!parent.isValid()) return createIndex(row, column, quintptr{0});
  return createIndex(row, column, quintptr{tree_->frame(frame_at(parent)).children[static_cast<std::size_t>(row)]});
}

QModelIndex FlameModel::parent(const QModelIndex& index) const {
  if (!index.isValid() || frame_at(index) == 0) return {};
  return index_of(tree_->frame(frame_at(index)).parent);
}

int FlameModel::rowCount(const QModelIndex& parent) const {
  if (tree_ == nullptr || parent.column() > 0) return 0;
  return parent.isValid() ? static_cast<int>(tree_->frame(frame_at(parent)).children.size()) : 1;
}
int FlameModel::columnCount(const QModelIndex&) const { return static_cast<int>(flame_columns().size()); }

QVariant FlameModel::number(const FlameFrame& frame, Column column) const {
  const auto count = [](std::int64_t value) { return QVariant::fromValue(static_cast<qlonglong>(value)); };
  switch (column) {
    case total:
      return count(frame.total_ns);
    case share:
      return share_of(frame);
    case own:
      return count(frame.self_ns);
    case calls:
      return count(frame.count);
    case longest:
      return count(frame.longest_ns);
    case name:
      break;
  }
  return {};
}

QVariant FlameModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto column = static_cast<Column>(index.column());
  const FlameFrame& frame = tree_->frame(frame_at(index));
  if (role == Qt::TextAlignmentRole) return alignment_of(flame_columns()[static_cast<std::size_t>(column)]);
  if (role == Qt::ToolTipRole) return sentence(frame_at(index));
  const bool speaks = role == Qt::DisplayRole || role == Qt::AccessibleTextRole;
  if (!speaks && role != Qt::UserRole) return {};
  if (column == name) return label(frame_at(index));
  const QVariant value = number(frame, column);
  if (!speaks) return value;
  if (column == share) return percent_text(value.toDouble());
  if (frame.count == 0 && column != total) return {};
  return column == calls ? QString::number(frame.count) : time_text(nanoseconds{value.toLongLong()});
}

QVariant FlameModel::headerData(int section, Qt::Orientation orientation, int role) const {
  return head_of(flame_columns(), section, orientation, role);
}

}  // namespace rankscope::gui
