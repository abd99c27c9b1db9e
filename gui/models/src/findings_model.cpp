#include "rankscope/gui/models/findings_model.h"

#include <algorithm>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/models/words.h"

namespace rankscope::gui {
namespace {

std::optional<TimeRange> step_time(const analyzer::Report& report, std::int64_t index, std::optional<RankId> rank) {
  if (!report.steps) return std::nullopt;
  for (const analyzer::StepWindow& step : report.steps->windows)
    if (rank && step.rank == *rank && step.index == index) return step.window;
  const auto found = std::ranges::find(report.steps->steps, index, &analyzer::Step::index);
  return found == report.steps->steps.end() ? std::nullopt : std::optional{found->time};
}

/// A counted step in the middle when they are sorted by length: the one whose critical path can be drawn, if there is
/// one.
std::optional<std::int64_t> median_step(const analyzer::Report& report) {
  if (report.critical_path && !report.critical_path->drawn.empty()) return report.critical_path->drawn_step;
  if (!report.steps || report.steps->steps.empty()) return std::nullopt;
  std::vector<analyzer::Step> steps = report.steps->steps;
  if (std::ranges::any_of(steps, [&](const analyzer::Step& step) { return report.steps->counted(step.index); }))
    std::erase_if(steps, [&](const analyzer::Step& step) { return !report.steps->counted(step.index); });
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
  std::ranges::nth_element(steps, middle, {}, &analyzer::Step::wall_ns);
  return middle->index;
}

/// What makes findings unsure, and how the next recording gets steps where this one has none.
QString doubts_text(const analyzer::Report& report) {
  QStringList doubts;
  for (const std::string& doubt : analyzer::doubts_about(report)) doubts.push_back(qt_text(doubt));
  if (!report.steps) doubts.push_back(qt_text(analyzer::remedy_for(report, "steps")));
  return doubts.join(QLatin1Char{' '});
}

}  // namespace

Place place_of(const analyzer::Finding& finding, const analyzer::Report& report, TimeRange extent) {
  const auto index = finding.step ? finding.step : median_step(report);
  const auto time = index ? step_time(report, *index, finding.rank) : std::nullopt;
  if (!time || time->empty()) return {extent, finding.rank};
  const nanoseconds margin = time->length() / 10;
  return {{time->begin - margin, time->end + margin}, finding.rank};
}

FindingsModel::FindingsModel(Session& session, QObject* parent) : QAbstractTableModel(parent), session_(session) {
  connect(&session, &Session::reportChanged, this, &FindingsModel::reload);
  reload();
}

void FindingsModel::reload() {
  beginResetModel();
  const auto& report = session_.report();
  rows_ = report && report->findings ? *report->findings : std::vector<analyzer::Finding>{};
  endResetModel();
}

int FindingsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int FindingsModel::columnCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : column_count; }

QVariant FindingsModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  const analyzer::Finding& row = finding(index.row());
  if (role == Qt::ToolTipRole)
    return qt_text(
        format("{}\n{}{}{}", row.evidence, row.advice, row.why_no_gain.empty() ? "" : "\n", row.why_no_gain));
  if (role != Qt::DisplayRole && role != Qt::AccessibleTextRole) return {};
  switch (static_cast<Column>(index.column())) {
    case severity:
      return qt_text(name_of(row.severity));
    case title:
      return qt_text(row.title);
    case gain:
      return row.gain_ns_per_step > 0 ? time_text(nanoseconds{row.gain_ns_per_step}) : QString{};
    case column_count:
      break;
  }
  return {};
}

QVariant FindingsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  switch (static_cast<Column>(section)) {
    case severity:
      return tr("Severity");
    case title:
      return tr("Finding");
    case gain:
      return tr("Gain per step");
    case column_count:
      break;
  }
  return {};
}

QString FindingsModel::why_empty() const {
  if (!rows_.empty()) return {};
  const auto& report = session_.report();
  if (report == nullptr) return session_.why_no_report(tr("Open a recording to see what is wrong with it."));
  const QString doubts = doubts_text(*report);
  QString why = report->findings ? tr("Nothing was found.") : qt_text(report->findings.error().why);
  if (report->findings && !doubts.isEmpty()) why = tr("Nothing was found among what can be told.");
  return doubts.isEmpty() ? why : why + QStringLiteral("\n\n") + doubts;
}

QString FindingsModel::note() const {
  return rows_.empty() || session_.report() == nullptr ? QString{} : doubts_text(*session_.report());
}

void FindingsModel::go_to(int row) {
  if (row < 0 || row >= rowCount() || session_.report() == nullptr) return;
  session_.select_finding(static_cast<std::size_t>(row));
  const Place place = place_of(finding(row), *session_.report(), session_.extent());
  session_.go_to(place.time, place.rank);
}

}  // namespace rankscope::gui
