// The panel of what took the time.
#include <gtest/gtest.h>

#include <QLabel>
#include <QTabWidget>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/gui/models/statistics/statistics_model.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

TEST(StatisticsPanel, SortsNamesByAClickOnAColumn) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_statistics_panel(session, nullptr)};
  panel->show();
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  auto* const ranks = panel->findChild<QTableView*>(QStringLiteral("rank_times"));
  auto* const names = panel->findChild<QTableView*>(QStringLiteral("name_times"));
  ASSERT_TRUE(testing::comes_true([&] { return ranks->model()->rowCount() == 4; }));
  testing::paint(*panel, {860, 220}, QStringLiteral("statistics_ranks"));
  panel->findChild<QTabWidget*>(QStringLiteral("statistics_tabs"))->setCurrentIndex(1);
  testing::paint(*panel, {860, 320}, QStringLiteral("statistics_names"));
  names->sortByColumn(NameTimesModel::calls, Qt::DescendingOrder);
  const auto calls = [&](int row) {
    return names->model()->index(row, NameTimesModel::calls).data(Qt::UserRole).toLongLong();
  };
  for (int row = 1; row < names->model()->rowCount(); ++row) EXPECT_GE(calls(row - 1), calls(row));
}

TEST(StatisticsPanel, SaysOfWhichRangeItIs) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_statistics_panel(session, nullptr)};
  auto* const caption = panel->findChild<QLabel*>(QStringLiteral("statistics_caption"));
  EXPECT_EQ(caption->text(), QStringLiteral("Open a recording to see where its time went."));
  panel->show();
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  session.set_visible({session.extent().begin, session.extent().begin + nanoseconds{5'000'000}});
  EXPECT_TRUE(testing::comes_true([&] {
    return caption->text() == QStringLiteral("Visible range: 5.000 ms starting at 0 ns, 4 ranks");
  })) << caption->text().toStdString();
}

}  // namespace
}  // namespace rankscope::gui
