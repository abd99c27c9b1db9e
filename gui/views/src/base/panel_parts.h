// What panels have in common.
#pragma once

#include <QDockWidget>
#include <QHeaderView>
#include <QLabel>
#include <QMainWindow>
#include <QTableView>
#include <QVBoxLayout>
#include <utility>

#include "base/table_menu.h"

namespace rankscope::gui {

/// A panel that computes only what somebody sees.
class LazyPanel : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  /// Comes whenever the panel is shown or hidden.
  virtual void set_active(bool active) = 0;

  void showEvent(QShowEvent* event) override {
    set_active(true);
    QWidget::showEvent(event);
  }
  void hideEvent(QHideEvent* event) override {
    set_active(false);
    QWidget::hideEvent(event);
  }
};

/// What a panel consists of, from top to bottom.
[[nodiscard]] inline QVBoxLayout* make_rows(QWidget& panel) {
  auto* const rows = new QVBoxLayout(&panel);
  rows->setContentsMargins(4, 4, 4, 4);
  return rows;
}

/// What is said in place of a picture or table that would be empty.
inline void set_up_empty(QLabel& label, const QString& object_name) {
  label.setObjectName(object_name);
  label.setAlignment(Qt::AlignCenter);
  label.setWordWrap(true);
}

/// Takes what room there is, from a few rows on: a panel scrolls as a whole only where it has less.
inline void let_shrink(QWidget& part) {
  part.setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
  part.setMinimumHeight(5 * part.fontMetrics().height());
}

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
  add_table_menu(table);
}

/// Rows stay as high as their wrapped text when columns change. For tables of few rows.
inline void keep_rows_whole(QTableView& table) {
  QObject::connect(table.horizontalHeader(), &QHeaderView::sectionResized, &table, &QTableView::resizeRowsToContents,
                   Qt::QueuedConnection);
}

/// Opens another panel of the window that a panel is in, by its id, before the tabs beside it.
inline void show_panel_of_window(const QWidget& panel, const QString& id) {
  for (QWidget* around = panel.parentWidget(); around != nullptr; around = around->parentWidget()) {
    auto* const dock = around->findChild<QDockWidget*>(id);
    if (qobject_cast<QMainWindow*>(around) == nullptr || dock == nullptr) continue;
    dock->show();
    return dock->raise();
  }
}

/// A click, or the return key.
template <class Choose>
void on_choice(QTableView& table, QObject* context, Choose choose) {
  leads_somewhere(table);
  QObject::connect(&table, &QTableView::clicked, context, choose);
  QObject::connect(&table, &QTableView::activated, context, choose);
}

}  // namespace rankscope::gui
