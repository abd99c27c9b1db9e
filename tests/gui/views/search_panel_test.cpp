// The panel that finds events by name.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

TEST(SearchPanel, EnterGoesToTheNextHitAndShiftEnterBack) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_search_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  testing::paint(*panel, {620, 420}, QStringLiteral("search_empty"));
  auto* const text = panel->findChild<QLineEdit*>(QStringLiteral("search_text"));
  auto* const hits = panel->findChild<QTableView*>(QStringLiteral("search_hits"));
  QTest::keyClicks(text, QStringLiteral("allred"));
  ASSERT_TRUE(testing::comes_true([&] { return hits->model()->rowCount() > 10; }));
  QTest::keyClick(text, Qt::Key_Return);
  const auto first = session.selection();
  ASSERT_TRUE(first);
  QTest::keyClick(text, Qt::Key_Return);
  EXPECT_NE(session.selection(), first);
  EXPECT_EQ(hits->currentIndex().row(), 1);
  QTest::keyClick(text, Qt::Key_Return, Qt::ShiftModifier);
  EXPECT_EQ(session.selection(), first);
  testing::paint(*panel, {620, 420}, QStringLiteral("search"));
}

TEST(SearchPanel, SaysWhatIsWrongWithAnExpression) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_search_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  panel->findChild<QCheckBox*>(QStringLiteral("search_regex"))->setChecked(true);
  panel->findChild<QLineEdit*>(QStringLiteral("search_text"))->setText(QStringLiteral("all(red"));
  auto* const summary = panel->findChild<QLabel*>(QStringLiteral("search_summary"));
  EXPECT_TRUE(testing::comes_true([&] { return summary->text().contains(QStringLiteral("at character 8")); }))
      << summary->text().toStdString();
  testing::paint(*panel, {620, 200}, QStringLiteral("search_wrong"));
}

}  // namespace
}  // namespace rankscope::gui
