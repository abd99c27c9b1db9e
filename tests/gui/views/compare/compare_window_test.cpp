// Two runs below each other.
#include <gtest/gtest.h>

#include <QAction>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTableWidget>
#include <filesystem>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/views/compare/compare_window.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "rankscope/gui/views/window/picture_file.h"
#include "support/temporary_folder.h"
#include "timeline/commands.h"

namespace rankscope::gui {
namespace {

struct Compared {
  Session a;
  Session b;
  CompareWindow window{a, b};
  QAbstractItemModelTester tester{&window.comparison(), fatal};

  Compared() {
    window.show();
    a.show(testing::recorded({.ranks = 2, .steps = 16}));
    b.show(testing::recorded({.ranks = 2, .steps = 16, .faults = {synthetic::fault_from("slow:rank=1,factor=1.5")}}));
    EXPECT_TRUE(testing::comes_true([this] { return window.comparison().rowCount() > 0; }));
  }
  [[nodiscard]] QString cell(int row, ComparisonModel::Column column) {
    return window.comparison().index(row, column).data().toString();
  }
  /// The first row of a name; -1: there is none.
  [[nodiscard]] int row_of(const QString& what) {
    const auto found = window.comparison().match(window.comparison().index(0, ComparisonModel::what), Qt::DisplayRole,
                                                 what, 1, Qt::MatchStartsWith);
    return found.isEmpty() ? -1 : found.front().row();
  }
};

TEST(CompareWindow, SaysWhatCompareSaysAndWhereTheTimeWent) {
  Compared runs;
  EXPECT_TRUE(runs.window.comparison().verdict().contains(QStringLiteral("slower")))
      << runs.window.comparison().verdict().toStdString();
  const int compute = runs.row_of(QStringLiteral("compute"));
  ASSERT_GE(compute, 0);
  EXPECT_TRUE(runs.cell(compute, ComparisonModel::change).startsWith(QLatin1Char{'+'}));
  EXPECT_TRUE(runs.cell(compute, ComparisonModel::percent).startsWith(QLatin1Char{'+'}));
  EXPECT_GT(runs.row_of(QStringLiteral("whole step")), compute);
}

TEST(CompareWindow, NamesTheRankThatBecameSlowAndLeadsToIt) {
  Compared runs;
  EXPECT_TRUE(runs.cell(0, ComparisonModel::what).startsWith(QStringLiteral("rank 1 is slower than its peer")))
      << runs.cell(0, ComparisonModel::what).toStdString();
  EXPECT_EQ(runs.cell(0, ComparisonModel::kind), QStringLiteral("finding, only in B"));
  EXPECT_TRUE(runs.cell(0, ComparisonModel::in_a).isEmpty());
  QStringList windows;
  for (int row = 0; row < runs.window.comparison().rowCount(); ++row)
    if (runs.cell(row, ComparisonModel::kind).startsWith(QStringLiteral("whole step; largest change: ")))
      windows += runs.cell(row, ComparisonModel::what) + runs.cell(row, ComparisonModel::kind);
  EXPECT_EQ(windows.filter(QStringLiteral("rank 0")).filter(QStringLiteral("waiting for other ranks +")).size(), 1);
  EXPECT_EQ(windows.filter(QStringLiteral("rank 1")).filter(QStringLiteral("compute +")).size(), 1);
  const QSignalSpy revealed{&runs.b, &Session::revealRequested};
  runs.window.comparison().go_to(runs.row_of(QStringLiteral("compute")));
  ASSERT_TRUE(testing::comes_true([&] { return !revealed.isEmpty(); }));
  EXPECT_EQ(revealed.back().front().value<RankId>(), RankId{1});
}

TEST(CompareWindow, WhatMakesTheFigureUnsureStandsAboveIt) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  window.show();
  a.show(testing::recorded({.ranks = 2, .steps = 8}));
  b.show(testing::recorded({.ranks = 4, .steps = 8}));
  ASSERT_TRUE(testing::comes_true([&] { return window.comparison().rowCount() > 0; }));
  const auto* const doubts = window.findChild<QLabel*>(QStringLiteral("comparison_doubts"));
  const auto* const verdict = window.findChild<QLabel*>(QStringLiteral("comparison_verdict"));
  EXPECT_TRUE(doubts->isVisible());
  EXPECT_LT(doubts->geometry().top(), verdict->geometry().top());
  EXPECT_TRUE(doubts->text().startsWith(QStringLiteral("These are not runs of the same job: ")))
      << doubts->text().toStdString();
  EXPECT_TRUE(doubts->text().contains(QStringLiteral("Only two runs are compared, so a change cannot be told apart")));
}

TEST(CompareWindow, AClickOnARowGoesToBothPlaces) {
  Compared runs;
  int row = -1;
  for (int i = 0; i < runs.window.comparison().rowCount() && row < 0; ++i)
    if (runs.cell(i, ComparisonModel::kind).startsWith(QStringLiteral("operator"))) row = i;
  ASSERT_GE(row, 0) << "an operator of the slow rank changed";
  auto* const table = runs.window.findChild<QTableView*>(QStringLiteral("comparison_table"));
  table->scrollTo(table->model()->index(row, 0));
  QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(table->model()->index(row, 0)).center());
  ASSERT_TRUE(testing::comes_true([&] { return runs.a.selection() && runs.b.selection(); }));
  const auto name = [](const Session& session) {
    return session.run()->text(session.run()->span(*session.selection()).name);
  };
  EXPECT_EQ(name(runs.a), name(runs.b));
  EXPECT_TRUE(runs.cell(row, ComparisonModel::what).startsWith(QString::fromStdString(std::string{name(runs.a)})));
  for (const Session* const session : {&runs.a, &runs.b})
    EXPECT_FALSE(intersect(session->visible(), session->run()->span(*session->selection()).time).empty());
  EXPECT_EQ(runs.a.visible().length(), runs.b.visible().length());
  EXPECT_TRUE(testing::comes_true([&] { return runs.window.timeline_a().is_up_to_date(); }));
  EXPECT_TRUE(testing::comes_true([&] { return runs.window.timeline_b().is_up_to_date(); }));
  testing::paint(runs.window, {1400, 950}, QStringLiteral("compare"));
}

TEST(CompareWindow, RanksAreChosenForBoth) {
  Compared runs;
  runs.window.choose_ranks(QStringLiteral("1"));
  EXPECT_EQ(runs.a.filter().ranks, std::vector{RankId{1}});
  EXPECT_EQ(runs.b.filter().ranks, std::vector{RankId{1}});
  runs.window.choose_ranks(QStringLiteral("x"));
  EXPECT_EQ(runs.b.filter().ranks, std::vector{RankId{1}});
  runs.window.choose_ranks({});
  EXPECT_TRUE(runs.b.filter().ranks.empty());
}

TEST(CompareWindow, SearchesInBothRuns) {
  Compared runs;
  ASSERT_TRUE(testing::comes_true([&] { return runs.window.timeline_b().is_up_to_date(); }));
  auto* const search = runs.window.findChild<QLineEdit*>(QStringLiteral("search"));
  search->setText(QStringLiteral("allred"));
  EXPECT_EQ(runs.a.filter().text, "allred");
  EXPECT_EQ(runs.b.filter().text, "allred");
  runs.window.choose_ranks(QStringLiteral("1"));
  EXPECT_EQ(runs.b.filter().text, "allred") << "still";
  runs.window.choose_ranks(QStringLiteral("1,"));
  search->setText(QStringLiteral("allredu"));
  EXPECT_EQ(runs.a.filter().text, "allredu") << "though the ranks cannot be read";
  runs.window.choose_ranks(QStringLiteral("1"));
  runs.b.set_filter({.ranks = runs.b.filter().ranks, .text = "allre"});
  EXPECT_EQ(search->text(), QStringLiteral("allre")) << "what a menu of the timeline searches for";
  EXPECT_EQ(runs.a.filter().text, "allre");
  Q_EMIT runs.window.timeline_b().searchRequested();
  QTest::keyClick(search, Qt::Key_Return);
  EXPECT_FALSE(runs.a.selection());
  ASSERT_TRUE(runs.b.selection());
  EXPECT_EQ(runs.b.run()->lane(runs.b.run()->span(*runs.b.selection()).lane).rank, RankId{1});
}

#ifdef RANKSCOPE_HAS_SVG
TEST(CompareWindow, SavesAPictureOfBothRuns) {
  const testing::TemporaryFolder folder;
  Compared runs;
  ASSERT_TRUE(testing::comes_true(
      [&] { return runs.window.timeline_a().is_up_to_date() && runs.window.timeline_b().is_up_to_date(); }));
  Q_EMIT runs.window.timeline_a().pictureRequested();
  auto* const dialog = runs.window.findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  Q_EMIT dialog->fileSelected(QString::fromStdString((folder / "both.svg").string()));
  dialog->reject();
  const std::string drawing = testing::read_file(folder / "both.svg");
  std::size_t ranks = 0;
  for (std::size_t at = drawing.find(">rank 0</text>"); at != std::string::npos;
       at = drawing.find(">rank 0</text>", at + 1))
    ++ranks;
  EXPECT_EQ(ranks, 2U) << "one in each timeline";
}
#endif

TEST(CompareWindow, ARunWithNoneOfTheChosenRanksIsNamedAndStaysAsItIs) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  a.show(testing::recorded({.ranks = 2, .steps = 4}));
  b.show(testing::recorded({.ranks = 4, .steps = 4}));
  const auto* const wrong = window.findChild<QLabel*>(QStringLiteral("wrong_ranks"));
  window.choose_ranks(QStringLiteral("1,3"));
  EXPECT_EQ(a.filter().ranks, std::vector{RankId{1}}) << "what it has of them";
  EXPECT_TRUE(wrong->text().isEmpty());
  window.choose_ranks(QStringLiteral("3"));
  EXPECT_EQ(wrong->text(), QStringLiteral("A: the recording has no rank 3; its ranks are 0 to 1"));
  EXPECT_EQ(a.filter().ranks, std::vector{RankId{1}}) << "as before";
  EXPECT_EQ(b.filter().ranks, std::vector{RankId{3}});
  window.choose_ranks({});
  EXPECT_TRUE(wrong->text().isEmpty());
  EXPECT_TRUE(a.filter().ranks.empty());
}

TEST(CompareWindow, HasNoCommandsThatWouldDoNothing) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  show_keys(window.timeline_b());
  const auto* const keys = window.findChild<QTableWidget*>();
  ASSERT_NE(keys, nullptr);
  const auto listed = [&](const char* title) {
    return !keys->findItems(QString::fromLatin1(title), Qt::MatchExactly).empty();
  };
  EXPECT_TRUE(listed("Next step"));
  EXPECT_TRUE(listed("Choose ranks"));
  EXPECT_NE(keys->item(keys->rowCount() - 1, 0), nullptr) << "no empty rows";
  EXPECT_TRUE(listed("Search names"));
  EXPECT_TRUE(listed("Save a picture (PNG or SVG)"));
  EXPECT_TRUE(listed("Save session"));
  for (const char* const title : {"Record a run", "Schedule of the pipeline"}) {
    EXPECT_FALSE(listed(title)) << title;
    for (const auto* const timeline : {&window.timeline_a(), &window.timeline_b()})
      for (const QAction* const action : timeline->actions())
        EXPECT_TRUE(action->text() != QString::fromLatin1(title) || !action->isVisible()) << title;
  }
}

TEST(CompareWindow, KeepsWhatIsPinnedOfEachRunBesideItsRecording) {
  const testing::TemporaryFolder folder;
  for (const char* const name : {"a.rankscope", "b.rankscope"})
    std::filesystem::copy(RANKSCOPE_SAMPLES "/demo.rankscope", folder / name, std::filesystem::copy_options::recursive);
  for (const bool first_time : {true, false}) {
    Session a;
    Session b;
    CompareWindow window{a, b};
    window.show();
    a.open({.paths = {folder / "a.rankscope"}});
    b.open({.paths = {folder / "b.rankscope"}});
    ASSERT_TRUE(testing::becomes_ready(a));
    ASSERT_TRUE(testing::becomes_ready(b));
    EXPECT_EQ(b.pinned().empty(), first_time);
    EXPECT_TRUE(a.pinned().empty());
    if (first_time) b.toggle_pin(LaneId{0});
    window.close();
    EXPECT_FALSE(std::filesystem::exists(folder / "a.rankscope-view")) << "nothing is pinned there";
    EXPECT_TRUE(std::filesystem::exists(folder / "b.rankscope-view"));
  }
  Session alone;
  MainWindow window{alone};
  window.show();
  alone.open({.paths = {folder / "b.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(alone));
  EXPECT_EQ(alone.pinned().size(), 1U);
  EXPECT_TRUE(window.findChild<QDockWidget*>(QStringLiteral("details"))->isVisible()) << "panels are those of before";
}

TEST(CompareWindow, BothRunsThatCannotBeReadAreSaid) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  window.show();
  a.open({.paths = {"no/such/run"}});
  b.open({.paths = {"no/other/run"}});
  const auto* const banner = window.findChild<QLabel*>(QStringLiteral("banner"));
  EXPECT_TRUE(testing::comes_true([&] {
    return banner->text().contains(QStringLiteral("no/such/run")) &&
           banner->text().contains(QStringLiteral("no/other/run"));
  }));
}

TEST(CompareWindow, ARunThatCannotBeReadIsSaidAndTheOtherIsShown) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  window.show();
  a.show(testing::recorded({.ranks = 2, .steps = 4}));
  b.open({.paths = {"no/such/run"}});
  const auto* const banner = window.findChild<QLabel*>(QStringLiteral("banner"));
  ASSERT_TRUE(testing::comes_true([&] { return banner->isVisible(); }));
  EXPECT_TRUE(banner->text().contains(QStringLiteral("no/such/run")));
  EXPECT_TRUE(testing::comes_true([&] { return window.timeline_a().is_up_to_date(); }));
}

}  // namespace
}  // namespace rankscope::gui
