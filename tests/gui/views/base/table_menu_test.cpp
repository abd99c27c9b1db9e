// What a click with the right button on a table offers.
#include "base/table_menu.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QMenu>
#include <QSignalSpy>
#include <QStandardItemModel>
#include <QTest>

namespace rankscope::gui {
namespace {

struct ShownTable {
  QTableView table;
  QStandardItemModel model;

  ShownTable() {
    model.setHorizontalHeaderLabels({QStringLiteral("Name"), QStringLiteral("Calls")});
    model.appendRow({new QStandardItem(QStringLiteral("gemm")), new QStandardItem(QStringLiteral("7"))});
    model.appendRow({new QStandardItem(QStringLiteral("relu")), new QStandardItem(QStringLiteral("3"))});
    table.setModel(&model);
    add_table_menu(table);
    table.show();
  }
  /// The entry that begins so, of the menu that opens on a row; null: the menu does not have it.
  QAction* entry(int row, const char* text) {
    Q_EMIT table.customContextMenuRequested(table.visualRect(model.index(row, 0)).center());
    auto* const menu = table.findChildren<QMenu*>(QStringLiteral("table_menu")).back();
    for (QAction* const action : menu->actions())
      if (action->text().remove(QLatin1Char{'&'}).startsWith(QLatin1String{text})) return action;
    return nullptr;
  }
};

TEST(TableMenu, CopiesARowOrAllOfTheTable) {
  ShownTable shown;
  shown.entry(1, "Copy this row")->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("Name\tCalls\nrelu\t3\n"));
  shown.entry(1, "Copy the table")->trigger();
  EXPECT_EQ(QApplication::clipboard()->text(), QStringLiteral("Name\tCalls\ngemm\t7\nrelu\t3\n"));
}

TEST(TableMenu, LeadsWhereARowLeads) {
  ShownTable shown;
  EXPECT_EQ(shown.entry(0, "Go there"), nullptr) << "nowhere";
  leads_somewhere(shown.table);
  const QSignalSpy went{&shown.table, &QTableView::activated};
  shown.entry(1, "Go there")->trigger();
  ASSERT_EQ(went.count(), 1);
  EXPECT_EQ(went.front().front().toModelIndex().row(), 1);
}

}  // namespace
}  // namespace rankscope::gui
