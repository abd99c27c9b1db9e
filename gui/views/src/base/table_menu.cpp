#include "base/table_menu.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QMenu>
#include <QPersistentModelIndex>

#include "rankscope/gui/models/details/selection_text.h"

namespace rankscope::gui {
namespace {

constexpr const char* leads = "rows_lead_somewhere";

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
      table.setCurrentIndex(row);
      Q_EMIT table.activated(row);
    });
  if (at.isValid())
    menu->addAction(QMenu::tr("Copy this &row"), &table, [&table, row] {
      if (row.isValid()) QGuiApplication::clipboard()->setText(table_text(*table.model(), {QModelIndex{row}}));
    });
  menu->addAction(QMenu::tr("Copy the &table"), &table,
                  [&table] { QGuiApplication::clipboard()->setText(table_text(*table.model())); });
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
