// Parts of a report that are tables of words.
#pragma once

#include <QStringList>
#include <functional>
#include <optional>
#include <vector>

#include "rankscope/analyzer/section.h"
#include "rankscope/gui/models/base/table_model.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// A row of a table of the report, in words.
struct ReportRow {
  QStringList cells;
  QString tip{};
  std::optional<double> share{};  ///< 0..1, of the second cell: drawn as a bar
};
using ReportRows = analyzer::Section<std::vector<ReportRow>>;

/// Factors of the efficiency, indented by what they are a factor of; then all time of the ranks by what took it.
[[nodiscard]] ReportRows efficiency_rows(const analyzer::Report& report);
/// Every counter of what was lost or altered, the worst first: counter, value, severity, advice.
[[nodiscard]] ReportRows quality_rows(const analyzer::Report& report);

/// Follows the report of the session.
class ReportTableModel : public TableModel {
  Q_OBJECT

 public:
  enum Role : int { share_role = Qt::UserRole };
  using Fill = std::function<ReportRows(const analyzer::Report&)>;
  ReportTableModel(Session& session, const QStringList& columns, Fill fill, QObject* parent = nullptr);

  /// What to say in place of rows, if `nothing` is what no rows mean; empty where there are rows.
  [[nodiscard]] QString why_empty(const QString& nothing) const;

 private:
  [[nodiscard]] std::size_t row_count() const override { return rows_.size(); }
  [[nodiscard]] QVariant cell(std::size_t row, int column, int role) const override;
  void reload();

  Session& session_;
  Fill fill_;
  std::vector<ReportRow> rows_;
  QString why_;
};

}  // namespace rankscope::gui
