#include "rankscope/gui/models/report/findings_model.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/median.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/report/verdict_words.h"
#include "rankscope/gui/models/session/moments.h"

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
  std::vector<std::int64_t> lengths_ns;
  for (const analyzer::Step& step : steps) lengths_ns.push_back(step.wall_ns);
  return steps[median_row(lengths_ns)].index;
}

/// As long as two usual steps, so that what was done before it is in sight.
TimeRange around_missed(RunTime missed, const analyzer::Report& report, TimeRange extent) {
  const auto index = median_step(report);
  const auto step = index ? step_time(report, *index, std::nullopt) : std::nullopt;
  const nanoseconds half = step && !step->empty() ? step->length() : extent.length() / 20;
  return {missed - half, missed + half};
}

}  // namespace

Place place_of(const analyzer::Finding& finding, const analyzer::Report& report, TimeRange extent) {
  if (finding.missed_at) return {around_missed(*finding.missed_at, report, extent), finding.rank};
  const auto index = finding.step ? finding.step : median_step(report);
  const auto time = index ? step_time(report, *index, finding.rank) : std::nullopt;
  if (!time || time->empty()) return {extent, finding.rank};
  const nanoseconds margin = time->length() / 10;
  return {{time->begin - margin, time->end + margin}, finding.rank};
}

void show_first_sight(Session& session) {
  const auto& report = session.report();
  const bool is_new = report != nullptr && session.visible() == session.extent();
  if (!is_new || !report->findings || report->findings->empty() || !report->findings->front().missed_at)
    return show_steps(session);
  const Place place = place_of(report->findings->front(), *report, session.extent());
  session.go_to(place.time, place.rank);
}

FindingsModel::FindingsModel(Session& session, QObject* parent)
    : TableModel({{tr("Severity")}, {tr("Finding")}, {tr("Saves per step")}}, parent), session_(session) {
  connect(&session, &Session::reportChanged, this, &FindingsModel::reload);
  reload();
}

void FindingsModel::reload() {
  beginResetModel();
  const auto& report = session_.report();
  rows_ = report && report->findings ? *report->findings : std::vector<analyzer::Finding>{};
  endResetModel();
}

QVariant FindingsModel::cell(std::size_t row, int column, int role) const {
  const analyzer::Finding& one = rows_[row];
  if (role == Qt::ToolTipRole)
    return qt_text(
        format("{}\n{}{}{}", one.evidence, one.advice, one.why_no_gain.empty() ? "" : "\n", one.why_no_gain));
  if (role != Qt::DisplayRole) return {};
  switch (static_cast<Column>(column)) {
    case severity:
      return qt_text(name_of(one.severity));
    case title:
      return qt_text(one.title);
    case gain:
      return one.gain_ns_per_step > 0 ? time_text(nanoseconds{one.gain_ns_per_step}) : QString{};
  }
  return {};
}

QString FindingsModel::why_empty() const {
  if (!rows_.empty()) return {};
  const auto& report = session_.report();
  if (report == nullptr) return session_.why_no_report(tr("Open a recording to see its findings."));
  return brief_verdict(*report);
}

QString FindingsModel::note() const {
  return rows_.empty() || session_.report() == nullptr ? QString{} : brief_verdict(*session_.report());
}

QString FindingsModel::whole_note() const {
  return session_.report() == nullptr ? QString{} : whole_verdict(*session_.report());
}

void FindingsModel::go_to(int row) {
  if (row < 0 || row >= rowCount() || session_.report() == nullptr) return;
  session_.select_finding(static_cast<std::size_t>(row));
  const Place place = place_of(finding(row), *session_.report(), session_.extent());
  session_.go_to(place.time, place.rank);
}

}  // namespace rankscope::gui
