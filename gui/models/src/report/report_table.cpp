#include "rankscope/gui/models/report/report_table.h"

#include <algorithm>

#include "rankscope/analyzer/efficiency/words.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/words.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

/// The second column holds the values.
std::vector<TableColumn> value_columns(const QStringList& titles) {
  std::vector<TableColumn> columns;
  for (const QString& title : titles) columns.push_back({title, {}, columns.size() == 1 ? Align::right : Align::left});
  return columns;
}

}  // namespace

ReportRows efficiency_rows(const analyzer::Report& report) {
  if (!report.efficiency) return analyzer::unavailable(report.efficiency.error().why);
  const analyzer::EfficiencySection& section = *report.efficiency;
  std::vector<ReportRow> rows;
  for (const analyzer::TreeLine& line : analyzer::tree_lines(section)) {
    const QString indent(static_cast<qsizetype>(4 * line.depth), QLatin1Char{' '});
    const QString meaning = QString::fromStdString(line.meaning);
    rows.push_back({{indent + qt_text(line.name), percent_text(line.value), meaning}, meaning, line.value});
  }
  if (section.whole_ns <= 0) return rows;
  rows.push_back({{ReportTableModel::tr("Total time of all ranks"), {}, {}}});
  for (std::size_t i = 0; i < analyzer::ledger_part_count; ++i) {
    if (section.ledger[i] == 0) continue;
    const double share = static_cast<double>(section.ledger[i]) / static_cast<double>(section.whole_ns);
    const QString name = qt_text(analyzer::words_of(static_cast<analyzer::LedgerPart>(i)));
    rows.push_back({{QStringLiteral("    ") + name, percent_text(share), time_text(nanoseconds{section.ledger[i]})},
                    ReportTableModel::tr("of the total time of all ranks"),
                    share});
  }
  return rows;
}

ReportRows quality_rows(const analyzer::Report& report) {
  std::vector<analyzer::QualityRow> counters = report.data_quality;
  std::ranges::stable_sort(counters, {}, [](const analyzer::QualityRow& row) { return info_of(row.counter).severity; });
  std::vector<ReportRow> rows;
  for (const analyzer::QualityRow& row : counters) {
    const CounterInfo& info = info_of(row.counter);
    QString name = qt_text(info.name);
    name.replace(QLatin1Char{'_'}, QLatin1Char{' '});
    QString severity = qt_text(name_of(info.severity));
    severity.replace(QLatin1Char{'_'}, QLatin1Char{' '});
    const QString advice = qt_text(analyzer::advice_for(row.counter, report.source));
    QString tip = advice;
    for (const std::string& where : row.where) tip += QLatin1Char{'\n'} + QString::fromStdString(where);
    rows.push_back({{name, QString::number(row.value), severity, advice}, tip});
  }
  return rows;
}

ReportTableModel::ReportTableModel(Session& session, const QStringList& columns, Fill fill, QObject* parent)
    : TableModel(value_columns(columns), parent), session_(session), fill_(std::move(fill)) {
  connect(&session, &Session::reportChanged, this, &ReportTableModel::reload);
  reload();
}

void ReportTableModel::reload() {
  beginResetModel();
  rows_.clear();
  why_.clear();
  if (session_.report() != nullptr) {
    ReportRows rows = fill_(*session_.report());
    if (rows)
      rows_ = *std::move(rows);
    else
      why_ = QString::fromStdString(rows.error().why);
  }
  endResetModel();
}

QVariant ReportTableModel::cell(std::size_t row, int column, int role) const {
  const ReportRow& one = rows_[row];
  if (role == Qt::ToolTipRole) return one.tip;
  if (role == share_role) return one.share && column == 1 ? QVariant{*one.share} : QVariant{};
  return role == Qt::DisplayRole ? one.cells[column] : QVariant{};
}

QString ReportTableModel::why_empty(const QString& nothing) const {
  if (!rows_.empty()) return {};
  if (session_.report() == nullptr) return session_.why_no_report(tr("Nothing is open."));
  return why_.isEmpty() ? nothing : why_;
}

}  // namespace rankscope::gui
