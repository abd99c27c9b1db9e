// What tables of panels have in common.
#pragma once

#include <QHeaderView>
#include <QTableView>
#include <utility>

namespace rankscope::gui {

/// Rows are chosen as a whole; the tab key leaves the table.
inline void set_up_table(QTableView& table, QAbstractItemModel& model, const QString& accessible_name,
                         const QString& object_name) {
  table.setObjectName(object_name);
  table.setAccessibleName(accessible_name);
  table.setModel(&model);
  table.setSelectionBehavior(QAbstractItemView::SelectRows);
  table.setSelectionMode(QAbstractItemView::SingleSelection);
  table.setTabKeyNavigation(false);
  table.setAlternatingRowColors(true);
  table.setShowGrid(false);
  table.setEditTriggers(QAbstractItemView::NoEditTriggers);
  table.verticalHeader()->hide();
  table.verticalHeader()->setDefaultSectionSize(table.fontMetrics().height() + 6);
  table.horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
  table.horizontalHeader()->setHighlightSections(false);
  table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
  table.horizontalHeader()->setResizeContentsPrecision(100);  // rows in sight and some more: there may be millions
}

/// A click, or the return key.
template <class Choose>
void on_choice(QTableView& table, QObject* context, Choose choose) {
  QObject::connect(&table, &QTableView::clicked, context, choose);
  QObject::connect(&table, &QTableView::activated, context, choose);
}

}  // namespace rankscope::gui
