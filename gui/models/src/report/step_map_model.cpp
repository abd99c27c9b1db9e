#include "rankscope/gui/models/report/step_map_model.h"

#include <algorithm>
#include <cstdlib>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/session/moments.h"

namespace rankscope::gui {
namespace {

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
  return {{{-0.20, StepMapModel::tr("shorter by more than 20 % of a step")},
           {-0.05, StepMapModel::tr("shorter by 5 to 20 %")},
           {-0.01, StepMapModel::tr("shorter by 1 to 5 %")},
           {0.01, StepMapModel::tr("within 1 %")},
           {0.05, StepMapModel::tr("longer by 1 to 5 %")},
           {0.20, StepMapModel::tr("longer by 5 to 20 %")},
           {0.50, StepMapModel::tr("longer by 20 to 50 %")},
           {1e300, StepMapModel::tr("longer by more than 50 %")}}};
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
  const auto& report = session_.report();
  lateness_ = report == nullptr ? Lateness{} : lateness_of(*report);
  find_widest();
  endResetModel();
}

/// Both signs are equally wide, so the difference of most digits has it.
void StepMapModel::find_widest() {
  std::int64_t most = 0;
  for (const auto& here : lateness_.cells)
    if (here) most = std::max<std::int64_t>(most, std::llabs(difference_ns(*here)));
  widest_ = signed_ms(-most);
}

void StepMapModel::note_visible() {
  if (rowCount() == 0 || columnCount() == 0) return;
  Q_EMIT dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1), {visible_role});
}

void StepMapModel::set_measure(Measure measure) {
  if (measure_ == measure) return;
  beginResetModel();
  measure_ = measure;
  find_widest();
  endResetModel();
}

std::int64_t StepMapModel::difference_ns(const LatenessCell& cell) const {
  switch (measure_) {
    case Measure::lateness:
      return cell.lag_ns;
    case Measure::step_time:
      break;
  }
  return cell.window.length().count() - lateness_.median_step_ns;
}

QString StepMapModel::sentence(const LatenessCell& cell, const QModelIndex& index) const {
  const bool late = measure_ == Measure::lateness;
  const std::int64_t difference = difference_ns(cell);
  return tr("rank %1, step %2: %3 %4; difference from %6: %5 (%7 of a step)")
      .arg(lateness_.ranks[static_cast<std::size_t>(index.row())].value)
      .arg(lateness_.steps[static_cast<std::size_t>(index.column())].index)
      .arg(late ? tr("own time") : tr("step time"), time_text(late ? nanoseconds{cell.own_ns} : cell.window.length()),
           signed_text(difference), late ? tr("the median rank") : tr("the median step"),
           percent_text(static_cast<double>(difference) / static_cast<double>(lateness_.median_step_ns)));
}

int StepMapModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lateness_.ranks.size());
}
int StepMapModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(lateness_.steps.size());
}

QVariant StepMapModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const auto& here = cell(index.row(), index.column());
  const bool speaks = role == Qt::ToolTipRole || role == Qt::AccessibleTextRole;
  if (!here) return speaks ? QVariant{tr("This step was not recorded on this rank, or only in part.")} : QVariant{};
  if (speaks) return sentence(*here, index);
  const std::int64_t difference = difference_ns(*here);
  const double share = static_cast<double>(difference) / static_cast<double>(lateness_.median_step_ns);
  switch (role) {
    case Qt::DisplayRole:
      return signed_ms(difference);
    case shade_role:
      return shade_of(share);
    case share_role:
      return share;
    case widest_role:
      return widest_;
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
    return place < lateness_.ranks.size() ? qt_text(format("rank {}", lateness_.ranks[place].value)) : QVariant{};
  if (place >= lateness_.steps.size()) return {};
  return speaks ? tr("step %1").arg(lateness_.steps[place].index) : QString::number(lateness_.steps[place].index);
}

QString StepMapModel::caption() const {
  if (lateness_.ranks.empty()) return {};
  const QString step = time_text(nanoseconds{lateness_.median_step_ns});
  return measure_ == Measure::lateness ? tr("ms above the median rank; the median step takes %1").arg(step)
                                       : tr("ms above the median step, which takes %1").arg(step);
}

QString StepMapModel::help() const {
  switch (measure_) {
    case Measure::lateness:
      return tr(
          "Own time of each rank (without its waits for others) minus the own time of the median rank in the same "
          "step, in ms. A row that is orange in most steps is a slow rank.");
    case Measure::step_time:
      break;
  }
  return tr(
      "Time of each step on each rank minus the time of the median step, in ms. An orange column is a slow step.");
}

QString StepMapModel::why_empty() const {
  if (!lateness_.ranks.empty() && !lateness_.steps.empty()) return {};
  const auto& report = session_.report();
  if (report == nullptr)
    return session_.why_no_report(tr("Open a recording to see which rank was late in which step."));
  if (!report->steps) return no_steps_text(*report);
  return report->rank_rows ? tr("No step was counted.") : qt_text(report->rank_rows.error().why);
}

void StepMapModel::go_to(const QModelIndex& index) {
  if (!index.isValid()) return;
  const auto& here = cell(index.row(), index.column());
  if (!here) return;
  const nanoseconds margin = here->window.length() / 10;
  session_.go_to({here->window.begin - margin, here->window.end + margin},
                 lateness_.ranks[static_cast<std::size_t>(index.row())]);
}

QModelIndex StepMapModel::worst() const {
  QModelIndex worst;
  std::int64_t most = 0;
  for (int row = 0; row < rowCount(); ++row)
    for (int column = 0; column < columnCount(); ++column)
      if (const auto& here = cell(row, column); here && difference_ns(*here) > most) {
        most = difference_ns(*here);
        worst = index(row, column);
      }
  return worst;
}

}  // namespace rankscope::gui
