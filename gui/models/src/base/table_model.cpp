#include "rankscope/gui/models/base/table_model.h"

#include <iterator>

#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {

QVariant alignment_of(const TableColumn& column) {
  if (column.align == Align::left) return {};
  return QVariant::fromValue(Qt::Alignment{Qt::AlignRight | Qt::AlignVCenter});
}

QVariant head_of(std::span<const TableColumn> columns, int section, Qt::Orientation orientation, int role) {
  if (orientation != Qt::Horizontal || section < 0 || section >= std::ssize(columns)) return {};
  const TableColumn& column = columns[static_cast<std::size_t>(section)];
  if (role == Qt::DisplayRole) return column.title;
  if (role == Qt::ToolTipRole && !column.tip.isEmpty()) return column.tip;
  return role == Qt::InitialSortOrderRole && column.first_order != Qt::AscendingOrder ? QVariant{column.first_order}
                                                                                      : QVariant{};
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(row_count());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
  if (role == Qt::TextAlignmentRole) return alignment_of(columns_[static_cast<std::size_t>(index.column())]);
  if (role == Qt::AccessibleTextRole) role = Qt::DisplayRole;
  return cell(static_cast<std::size_t>(index.row()), index.column(), role);
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  return head_of(columns_, section, orientation, role);
}

std::vector<TableColumn> span_columns(std::vector<TableColumn> own) {
  std::vector<TableColumn> all{{.title = TableModel::tr("Start"), .align = Align::right},
                               {.title = TableModel::tr("Duration"), .align = Align::right},
                               {.title = TableModel::tr("Name")}};
  std::ranges::move(own, std::back_inserter(all));
  return all;
}

QVariant span_cell(const Run& run, const Span& span, int column, int role) {
  if (role == Qt::ToolTipRole && column == static_cast<int>(SpanColumn::name)) return qt_text(run.text(span.name));
  if (role != Qt::DisplayRole) return {};
  switch (static_cast<SpanColumn>(column)) {
    case SpanColumn::start:
      return moment_text(run, span.time.begin);
    case SpanColumn::length:
      return time_text(span.time.length());
    case SpanColumn::name:
      return qt_text(short_name_of(run, span));
  }
  return {};
}

}  // namespace rankscope::gui
