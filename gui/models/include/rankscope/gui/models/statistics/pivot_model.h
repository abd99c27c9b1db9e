// The pivot of a session's run as a table.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <optional>

#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/session/session.h"
#include "rankscope/gui/models/statistics/pivot.h"

namespace rankscope::gui {

/// What is shown in the cells.
enum class PivotValue : std::uint8_t { sum, count, median, longest, share };

/// Asks again, in the background, whenever question, run, report or chosen ranks change. Until the new table is there
/// the old one stays.
class PivotModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// Whose times count.
  enum class Scope : std::uint8_t { run, range };  ///< range: the selected, else the visible one
  explicit PivotModel(Session& session, QObject* parent = nullptr);

  /// Nothing is computed for what nobody sees; it begins as passive.
  void set_active(bool active);
  void look_for(const QString& text);
  void set_kind(PivotKind kind);
  void set_rows(PivotBy rows);
  void set_columns(PivotBy columns);
  void set_scope(Scope scope);
  void set_value(PivotValue value);
  [[nodiscard]] PivotValue value() const { return value_; }
  [[nodiscard]] bool busy() const { return job_.busy(); }
  /// "1,204 events, 12.3 ms in total, in the whole run", or why there are none.
  [[nodiscard]] QString summary() const;
  /// Selects the longest event of a cell and shows it; of a whole row in its first column.
  void go_to(const QModelIndex& index);
  /// All rows and columns in the order that is shown, comma-separated: durations in ns, shares from 0 to 1.
  [[nodiscard]] QString csv() const;

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  void sort(int column, Qt::SortOrder direction) override;

 Q_SIGNALS:
  void computed();  ///< another table, or none

 private:
  void forget();
  void ask();
  void take(PivotTable table);
  void arrange();
  /// The first column is of keys, the second of totals; then the others.
  [[nodiscard]] const PivotCell& cell_of(std::size_t row, int column) const;
  [[nodiscard]] double number_of(const PivotCell& cell) const;
  [[nodiscard]] QString text_of(const PivotCell& cell) const;

  Session& session_;
  PivotQuestion question_;
  Scope scope_ = Scope::run;
  PivotValue value_ = PivotValue::sum;
  bool active_ = false;
  bool stale_ = true;
  std::optional<PivotTable> table_;
  std::vector<std::size_t> order_;  ///< rows of the table as they are shown
  int sorted_by_ = 1;
  Qt::SortOrder direction_ = Qt::DescendingOrder;
  LatestJob job_;
};

}  // namespace rankscope::gui
