// The panel for SQL.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

TEST(QueryPanel, RunsASavedQueryWithCtrlReturn) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_query_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  testing::paint(*panel, {760, 300}, QStringLiteral("query_empty"));
  auto* const sql = panel->findChild<QPlainTextEdit*>(QStringLiteral("query_sql"));
  auto* const saved = panel->findChild<QComboBox*>(QStringLiteral("query_saved"));
  const int steps = saved->findText(QStringLiteral("Steps"));
  ASSERT_GE(steps, 0);
  Q_EMIT saved->activated(steps);
  EXPECT_TRUE(sql->toPlainText().contains(QStringLiteral("FROM steps")));
  QTest::keyClick(sql, Qt::Key_Return, Qt::ControlModifier);
  const auto* const table = panel->findChild<QTableView*>(QStringLiteral("query_table"));
  ASSERT_TRUE(testing::comes_true([&] { return table->model()->rowCount() == 8; }));
  const auto* const summary = panel->findChild<QLabel*>(QStringLiteral("query_summary"));
  EXPECT_TRUE(testing::comes_true([&] { return summary->text() == QStringLiteral("8 rows"); }));
  testing::paint(*panel, {760, 300}, QStringLiteral("query"));
}

}  // namespace
}  // namespace rankscope::gui
