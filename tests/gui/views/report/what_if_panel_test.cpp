// The panel of fixes.
#include <gtest/gtest.h>

#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/gui/models/report/what_if_model.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

struct ShownWhatIf {
  Session session;
  std::unique_ptr<QWidget> panel{make_what_if_panel(session, nullptr)};
  QLineEdit* other = panel->findChild<QLineEdit*>(QStringLiteral("what_if_other"));
  QLabel* wrong = panel->findChild<QLabel*>(QStringLiteral("what_if_wrong"));
  QTableView* table = panel->findChild<QTableView*>(QStringLiteral("what_if_table"));

  ShownWhatIf() {
    panel->resize(260, 420);
    panel->show();
    EXPECT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  }
};

TEST(WhatIfPanel, KeepsWhatItDoesNotUnderstandAndSaysWhatIsWrong) {
  ShownWhatIf shown;
  QTest::keyClicks(shown.other, QStringLiteral("rnak:2"));
  QTest::keyClick(shown.other, Qt::Key_Return);
  ASSERT_TRUE(testing::comes_true([&] { return shown.wrong->isVisible(); }));
  EXPECT_EQ(shown.other->text(), QStringLiteral("rnak:2"));
  EXPECT_TRUE(shown.wrong->text().contains(QStringLiteral("no such fix"))) << shown.wrong->text().toStdString();
  testing::paint(*shown.panel, {260, 420}, QStringLiteral("what_if_wrong"));
  shown.other->setText(QStringLiteral("op:aten::gelu*0.5"));
  EXPECT_FALSE(shown.wrong->isVisible()) << "it is being mended";
  QTest::keyClick(shown.other, Qt::Key_Return);
  EXPECT_TRUE(testing::comes_true([&] { return shown.other->text().isEmpty(); })) << "taken";
}

TEST(WhatIfPanel, CanBeReadInANarrowDock) {
  ShownWhatIf shown;
  shown.table->model()->setData(shown.table->model()->index(0, WhatIfModel::fix), Qt::Checked, Qt::CheckStateRole);
  ASSERT_TRUE(testing::comes_true(
      [&] { return !shown.table->model()->index(0, WhatIfModel::gain).data().toString().isEmpty(); }));
  QCoreApplication::processEvents();
  for (int column = 0; column <= WhatIfModel::gain; ++column) {
    const QString title = shown.table->model()->headerData(column, Qt::Horizontal).toString();
    EXPECT_GT(shown.table->columnWidth(column), shown.table->fontMetrics().horizontalAdvance(title))
        << title.toStdString();
  }
  EXPECT_GE(shown.table->rowHeight(0), 2 * shown.table->fontMetrics().height()) << "what would change is wrapped";
  testing::paint(*shown.panel, {260, 420}, QStringLiteral("what_if"));
}

}  // namespace
}  // namespace rankscope::gui
