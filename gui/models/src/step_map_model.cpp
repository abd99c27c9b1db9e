#include "rankscope/gui/models/step_map_model.h"

#include <algorithm>
#include <cstdlib>

#include "rankscope/core/format.h"
#include "rankscope/gui/models/words.h"

namespace rankscope::gui {
namespace {

/// The mean of the two in the middle where there are evenly many.
std::int64_t median(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::int64_t high = values[values.size() / 2];
  if (values.size() % 2 == 1) return high;
  const std::int64_t low = values[values.size() / 2 - 1];
  return low + (high - low) / 2;
}

QString signed_text(std::int64_t ns) {
  const QString size = time_text(nanoseconds{std::llabs(ns)});
  return ns == 0 ? QStringLiteral("0") : (ns < 0 ? QStringLiteral("−") : QStringLiteral("+")) + size;
}

/// Two decimals, as on the page of a report.
QString signed_ms(std::int64_t ns) {
  const std::int64_t centi = (std::llabs(ns) + 5'000) / 10'000;
  if (centi == 0) return QStringLiteral("0");
  return qt_text(format("{}{}.{:02}", ns < 0 ? "−" : "+", centi / 100, centi % 100));
}

}  // namespace

std::array<Shade, shade_count> shades() {
  return {{{-0.20, StepMapModel::tr("more than 20 % of a step less")},
           {-0.05, StepMapModel::tr("5 to 20 % less")},
           {-0.01, StepMapModel::tr("1 to 5 % less")},
           {0.01, StepMapModel::tr("within 1 %")},
           {0.05, StepMapModel::tr("1 to 5 % more")},
           {0.20, StepMapModel::tr("5 to 20 % more")},
           {0.50, StepMapModel::tr("20 to 50 % more")},
           {1e300, StepMapModel::tr("more than 50 % more")}}};
}

int shade_of(double share) {
  static const auto all = shades();
  return static_cast<int>(std::ranges::find_if(all, [&](const Shade& shade) { return share < shade.below; }) -
                          all.begin());
}

StepMapModel::StepMapModel(Session& session, QObject* parent) : QAbstractTableModel(parent), session_(session) {
  connect(&session, &Session::reportChanged, this, &StepMapModel::reload);
  connect(&session, &Session::visibleRangeChanged, this, &StepMapModel::note_visible);
  reload();
}

void StepMapModel::reload() {
  beginResetModel();
  ranks_.clear();
  steps_.clear();
  cells_.clear();
  median_own_ns_.clear();
  const auto& report = session_.report();
  if (report != nullptr && report->steps && report->rank_rows && report->steps->median_ns > 0) fill(*report);
  endResetModel();
}

void StepMapModel::fill(const analyzer::Report& report) {
  median_step_ns_ = report.steps->median_ns;
  for (const analyzer::Step& step : report.steps->steps)
    if (report.steps->counted(step.index)) steps_.push_back(step.index);
  std::vector<std::vector<std::int64_t>> own_of_step(steps_.size());
  for (const analyzer::RankRow& row : *report.rank_rows) {
    ranks_.push_back(row.rank);
    cells_.resize(cells_.size() + steps_.size());
    auto split = row.per_step.begin();  // of the counted steps that the rank has, in their order
    for (const analyzer::StepWindow& step : report.steps->windows) {
      if (step.rank != row.rank || split == row.per_step.end()) continue;
      const auto place = std::ranges::lower_bound(steps_, step.index);
      if (place == steps_.end() || *place != step.index) continue;
      const auto column = static_cast<std::size_t>(place - steps_.begin());
      cells_[cells_.size() - steps_.size() + column] = {step.window, split->own_ns()};
      own_of_step[column].push_back(split->own_ns());
      ++split;
    }
  }
  for (auto& own : own_of_step) median_own_ns_.push_back(median(std::move(own)));
}

void StepMapModel::note_visible() {
  if (cells_.empty()) return;
  Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), {visible_role});
}

void StepMapModel::set_measure(Measure measure) {
  if (measure_ == measure) return;
  beginResetModel();
  measure_ = measure;
  endResetModel();
}

std::int64_t StepMapModel::difference_ns(const Cell& cell, int column) const {
  switch (measure_) {
    case Measure::lateness:
      return cell.own_ns - median_own_ns_[static_cast<std::size_t>(column)];
    case Measure::step_time:
      break;
  }
  return cell.window.length().count() - median_step_ns_;
}

QString StepMapModel::sentence(const Cell& cell, const QModelIndex& index) const {
  const bool late = measure_ == Measure::lateness;
  const std::int64_t difference = difference_ns(cell, index.column());
  return tr("rank %1, step %2: %3 %4, %5 against %6 (%7 of a step)")
      .arg(ranks_[static_cast<std::size_t>(index.row())].value)
      .arg(steps_[static_cast<std::size_t>(index.column())])
      .arg(late ? tr("own time") : tr("it took"), time_text(late ? nanoseconds{cell.own_ns} : cell.window.length()),
           signed_text(difference), late ? tr("the median rank") : tr("the median step"),
           percent_text(static_cast<double>(difference) / static_cast<double>(median_step_ns_)));
}

int StepMapModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(ranks_.size());
}
int StepMapModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(steps_.size());
}

QVariant StepMapModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto& here = cell(index.row(), index.column());
  const bool speaks = role == Qt::ToolTipRole || role == Qt::AccessibleTextRole;
  if (!here) return speaks ? QVariant{tr("This rank has no such step, or only a part of it.")} : QVariant{};
  if (speaks) return sentence(*here, index);
  const std::int64_t difference = difference_ns(*here, index.column());
  const double share = static_cast<double>(difference) / static_cast<double>(median_step_ns_);
  switch (role) {
    case Qt::DisplayRole:
      return signed_ms(difference);
    case shade_role:
      return shade_of(share);
    case share_role:
      return share;
    case visible_role:
      return !intersect(here->window, session_.visible()).empty();
    default:
      return {};
  }
}

QVariant StepMapModel::headerData(int section, Qt::Orientation orientation, int role) const {
  const bool speaks = role == Qt::ToolTipRole || role == Qt::AccessibleTextRole;
  if ((role != Qt::DisplayRole && !speaks) || section < 0) return {};
  const auto place = static_cast<std::size_t>(section);
  if (orientation == Qt::Vertical)
    return place < ranks_.size() ? qt_text(format("rank {}", ranks_[place].value)) : QVariant{};
  if (place >= steps_.size()) return {};
  return speaks ? tr("step %1").arg(steps_[place]) : QString::number(steps_[place]);
}

QString StepMapModel::caption() const {
  if (ranks_.empty()) return {};
  const QString step = time_text(nanoseconds{median_step_ns_});
  switch (measure_) {
    case Measure::lateness:
      return tr("Own time (without waiting for others) against the median rank of the same step. A row that stays "
                "orange is a slow rank. The median step takes %1; numbers are ms.")
          .arg(step);
    case Measure::step_time:
      break;
  }
  return tr("Step time against the median step of %1. A column that is orange is a slow step; numbers are ms.")
      .arg(step);
}

QString StepMapModel::why_empty() const {
  if (!ranks_.empty() && !steps_.empty()) return {};
  if (session_.state() == LoadState::analyzing) return tr("The report is being made.");
  const auto& report = session_.report();
  if (report == nullptr) return tr("Open a recording to see which rank was late in which step.");
  if (!report->steps) return qt_text(report->steps.error().why);
  return report->rank_rows ? tr("No step was counted.") : qt_text(report->rank_rows.error().why);
}

void StepMapModel::go_to(const QModelIndex& index) {
  if (!index.isValid()) return;
  const auto& here = cell(index.row(), index.column());
  if (!here) return;
  const nanoseconds margin = here->window.length() / 10;
  session_.go_to({here->window.begin - margin, here->window.end + margin},
                 ranks_[static_cast<std::size_t>(index.row())]);
}

QModelIndex StepMapModel::worst() const {
  QModelIndex worst;
  std::int64_t most = 0;
  for (int row = 0; row < rowCount(); ++row)
    for (int column = 0; column < columnCount(); ++column)
      if (const auto& here = cell(row, column); here && difference_ns(*here, column) > most) {
        most = difference_ns(*here, column);
        worst = index(row, column);
      }
  return worst;
}

}  // namespace rankscope::gui
