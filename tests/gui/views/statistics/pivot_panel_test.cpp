// The panel that asks for events by name, rank and step.
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

TEST(PivotPanel, ShowsAllEventsOfANamePerRankWhenItIsTyped) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_pivot_panel(session, nullptr)};
  testing::paint(*panel, {760, 300}, QStringLiteral("pivot_empty"));
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const auto* const table = panel->findChild<QTableView*>(QStringLiteral("pivot_table"));
  panel->findChild<QLineEdit*>(QStringLiteral("pivot_text"))->setText(QStringLiteral("allred"));
  const auto* const summary = panel->findChild<QLabel*>(QStringLiteral("pivot_summary"));
  ASSERT_TRUE(testing::comes_true([&] {
    return table->model()->columnCount() == 6 &&
           table->model()->index(0, 0).data().toString().contains(QStringLiteral("allred"), Qt::CaseInsensitive);
  }));
  EXPECT_TRUE(testing::comes_true([&] { return summary->text().contains(QStringLiteral("in the whole run")); }));
  EXPECT_EQ(table->model()->headerData(5, Qt::Horizontal).toString(), QStringLiteral("rank 3"));
  panel->findChild<QPushButton*>(QStringLiteral("pivot_copy"))->click();
  EXPECT_TRUE(QApplication::clipboard()->text().startsWith(QStringLiteral("Name,Total,rank 0,rank 1,rank 2,rank 3\n")));
  panel->findChild<QComboBox*>(QStringLiteral("pivot_columns"))->setCurrentIndex(3);
  EXPECT_TRUE(testing::comes_true([&] { return table->model()->columnCount() > 6; })) << "steps";
  testing::paint(*panel, {760, 300}, QStringLiteral("pivot"));
}

}  // namespace
}  // namespace rankscope::gui
