#include "base/table_menu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QPersistentModelIndex>
#include <algorithm>

#include "rankscope/gui/models/details/selection_text.h"

namespace rankscope::gui {
namespace {

constexpr const char* leads = "rows_lead_somewhere";
constexpr int most_cells = 1'000'000;  // that are copied: the window would stop for the millions of a table of events

int rows_to_copy(const QAbstractItemModel& model) {
  return std::min(model.rowCount(), std::max(1, most_cells / std::max(1, model.columnCount())));
}

QString text_to_copy(const QAbstractItemModel& model) {
  QModelIndexList rows;
  for (int row = 0, count = rows_to_copy(model); row < count; ++row) rows.push_back(model.index(row, 0));
  return table_text(model, rows);
}

void show_table_menu(QTableView& table, QPoint position) {
  QModelIndex at = table.indexAt(position);
  if (!at.isValid()) at = table.currentIndex();  // asked for by keyboard
  if (table.model()->rowCount() == 0) return;
  auto* const menu = new QMenu(&table);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setObjectName(QStringLiteral("table_menu"));
  const QPersistentModelIndex row{at};
  if (at.isValid() && table.property(leads).toBool())
    menu->addAction(QMenu::tr("&Go there"), &table, [&table, row] {
      if (!row.isValid()) return;  // the table has other rows by now
      table.setCurrentIndex(row);
      Q_EMIT table.activated(row);
    });
  if (at.isValid())
    menu->addAction(QMenu::tr("Copy this &row"), &table, [&table, row] {
      if (row.isValid()) QGuiApplication::clipboard()->setText(table_text(*table.model(), {QModelIndex{row}}));
    });
  const int copied = rows_to_copy(*table.model());
  menu->addAction(copied == table.model()->rowCount() ? QMenu::tr("Copy the &table")
                                                      : QMenu::tr("Copy the first %1 rows of the &table").arg(copied),
                  &table, [&table] { QGuiApplication::clipboard()->setText(text_to_copy(*table.model())); });
  menu->popup(table.viewport()->mapToGlobal(position));
}

}  // namespace

void add_table_menu(QTableView& table) {
  table.setContextMenuPolicy(Qt::CustomContextMenu);
  QObject::connect(&table, &QTableView::customContextMenuRequested, &table,
                   [&table](QPoint position) { show_table_menu(table, position); });
}

void leads_somewhere(QTableView& table) { table.setProperty(leads, true); }

}  // namespace rankscope::gui
