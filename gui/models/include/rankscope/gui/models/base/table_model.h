// What all tables of the viewer have in common: rows without children, and columns that are written down once.
#pragma once

#include <QAbstractTableModel>
#include <span>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::gui {

/// Of a column, its head included.
enum class Align : std::uint8_t { left, right };

/// A column as its head shows it. Numbers stand at the right.
struct TableColumn {
  QString title;
  QString tip{};
  Align align = Align::left;
  Qt::SortOrder first_order = Qt::AscendingOrder;  ///< of the first click on the head
};

/// Of one head, by role.
[[nodiscard]] QVariant head_of(std::span<const TableColumn> columns, int section, Qt::Orientation orientation,
                               int role);
[[nodiscard]] QVariant alignment_of(const TableColumn& column);

/// A subclass says how many rows there are and what is in a cell.
class TableModel : public QAbstractTableModel {
 public:
  TableModel(std::vector<TableColumn> columns, QObject* parent)
      : QAbstractTableModel(parent), columns_(std::move(columns)) {}

  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const final;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const final;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const final;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const final;

 private:
  [[nodiscard]] virtual std::size_t row_count() const = 0;
  /// Qt::DisplayRole is also what screen readers read. Qt::UserRole has the numbers of columns that are sorted by them.
  [[nodiscard]] virtual QVariant cell(std::size_t row, int column, int role) const = 0;

  std::vector<TableColumn> columns_;
};

/// The first columns of a table of events; its own ones follow.
enum class SpanColumn : int { start, length, name };
[[nodiscard]] std::vector<TableColumn> span_columns(std::vector<TableColumn> own);
/// Texts and tooltips of the columns of all tables of events; invalid for other columns and roles.
[[nodiscard]] QVariant span_cell(const Run& run, const Span& span, int column, int role);

}  // namespace rankscope::gui
