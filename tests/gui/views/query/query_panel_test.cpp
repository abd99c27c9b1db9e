// The panel for SQL.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
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

TEST(QueryPanel, StopsAQueryThatDoesNotEnd) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_query_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  panel->findChild<QPlainTextEdit*>(QStringLiteral("query_sql"))
      ->setPlainText(
          QStringLiteral("WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"));
  auto* const stop = panel->findChild<QPushButton*>(QStringLiteral("query_stop"));
  EXPECT_FALSE(stop->isEnabled());
  panel->findChild<QPushButton*>(QStringLiteral("query_run"))->click();
  ASSERT_TRUE(stop->isEnabled());
  stop->click();
  EXPECT_FALSE(stop->isEnabled());
  EXPECT_EQ(panel->findChild<QLabel*>(QStringLiteral("query_summary"))->text(),
            QStringLiteral("The query was stopped."));
}

}  // namespace
}  // namespace rankscope::gui
