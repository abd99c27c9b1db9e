// The panel that finds events by name.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QScrollBar>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/search/search_model.h"
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

TEST(SearchPanel, AClickOnTheHeaderOfDurationsShowsTheLongestAndThenTheShortest) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_search_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  panel->resize(620, 420);
  panel->show();
  auto* const hits = panel->findChild<QTableView*>(QStringLiteral("search_hits"));
  panel->findChild<QLineEdit*>(QStringLiteral("search_text"))->setText(QStringLiteral("allred"));
  ASSERT_TRUE(testing::comes_true([&] { return hits->model()->rowCount() > 10; }));
  QHeaderView& header = *hits->horizontalHeader();
  const auto click = [&](int column) {
    const int x = header.sectionViewportPosition(column) + header.sectionSize(column) / 2;
    QTest::mouseClick(header.viewport(), Qt::LeftButton, {}, {x, header.height() / 2});
  };
  const auto length_of = [&](int row) {
    return session.run()
        ->span(static_cast<SearchModel*>(hits->model())->result().listed[static_cast<std::size_t>(row)])
        .time.length();
  };
  const auto last = hits->model()->rowCount() - 1;
  hits->selectRow(last);
  hits->scrollToBottom();
  ASSERT_GT(hits->verticalScrollBar()->value(), 0);
  click(1);
  EXPECT_TRUE(testing::comes_true([&] { return length_of(0) > length_of(last); }));
  EXPECT_TRUE(testing::comes_true([&] { return hits->verticalScrollBar()->value() == 0; }))
      << "the longest are in sight";
  click(1);
  EXPECT_TRUE(testing::comes_true([&] { return length_of(0) < length_of(last); }));
  click(2);
  EXPECT_EQ(header.sortIndicatorSection(), 1) << "names have no order";
  EXPECT_EQ(header.sortIndicatorOrder(), Qt::AscendingOrder);
}

TEST(SearchPanel, LooksForWhatIsSearchedForInTheTimeline) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_search_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const auto* const text = panel->findChild<QLineEdit*>(QStringLiteral("search_text"));
  session.set_filter({.text = "allred"});
  EXPECT_TRUE(text->text().isEmpty()) << "nobody sees it";
  panel->show();
  EXPECT_EQ(text->text(), QStringLiteral("allred"));
  session.set_filter({.text = "forward"});
  EXPECT_EQ(text->text(), QStringLiteral("forward"));
  session.set_filter({});
  EXPECT_TRUE(text->text().isEmpty());
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
