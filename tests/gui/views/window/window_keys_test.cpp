// Keys work wherever the keyboard is in the window.
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QAction>
#include <QDialog>
#include <QLineEdit>
#include <QStatusBar>
#include <QTest>
#include <set>
#include <vector>

#include "gui/waiting.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/views/compare/compare_window.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "window/window_keys.h"

namespace rankscope::gui {
namespace {

class Keys : public ::testing::Test {
 protected:
  Keys() {
    window_.resize(1280, 800);
    window_.show();
    session_.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
    EXPECT_TRUE(testing::becomes_ready(session_));
    EXPECT_TRUE(testing::comes_true([this] { return window_.timeline().is_up_to_date(); }));
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window_));
  }
  template <class Widget>
  Widget* find(const char* name) {
    return window_.findChild<Widget*>(QString::fromLatin1(name));
  }
  QAbstractItemView* findings() { return find<QAbstractItemView>("findings_table"); }
  void click_finding() {
    QTest::mouseClick(findings()->viewport(), Qt::LeftButton, {},
                      findings()->visualRect(findings()->model()->index(0, 1)).center());
    ASSERT_TRUE(findings()->hasFocus());
  }
  static void press(QWidget* widget, const char* keys) {
    QTest::keySequence(widget, QKeySequence{QString::fromLatin1(keys)});
  }

  Session session_;
  MainWindow window_{session_};
};

TEST_F(Keys, ActOnTheTimelineWhileAPanelHasTheKeyboard) {
  click_finding();
  TimeRange before = session_.visible();
  for (const char* const key : {"N", "W", "Shift+N", "S"}) {
    press(findings(), key);
    EXPECT_NE(session_.visible(), before) << key;
    before = session_.visible();
  }
  press(findings(), "?");
  auto* const keys = find<QDialog>("keys");
  ASSERT_NE(keys, nullptr);
  keys->close();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  press(findings(), "Ctrl+Shift+P");
  auto* const palette = find<QDialog>("palette");
  ASSERT_NE(palette, nullptr);
  palette->close();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window_));
  press(findings(), "/");
  EXPECT_TRUE(find<QLineEdit>("search")->hasFocus());
}

TEST_F(Keys, OfPanelsAndTextStayWhereTheKeyboardIs) {
  click_finding();
  const TimeRange shown = session_.visible();
  for (const char* const key : {"Left", "Home", "Return"}) {
    press(findings(), key);
    EXPECT_EQ(session_.visible(), shown) << key;
  }
  auto* const search = find<QLineEdit>("search");
  search->setFocus();
  QTest::keyClicks(search, QStringLiteral("wn?"));
  press(search, "Backspace");
  EXPECT_EQ(search->text(), QStringLiteral("wn"));
  EXPECT_EQ(session_.visible(), shown);
}

TEST_F(Keys, ThatCanDoNothingSayWhy) {
  const auto said = [this] { return window_.statusBar()->currentMessage(); };
  press(&window_.timeline(), "G");
  EXPECT_EQ(session_.selection(), std::nullopt);
  for (const char* const key : {".", "Alt+Down"}) {
    window_.statusBar()->clearMessage();
    press(&window_.timeline(), key);
    EXPECT_EQ(said(), QStringLiteral("Select an event first.")) << key;
  }
  press(&window_.timeline(), "C");
  ASSERT_TRUE(session_.selection());
  EXPECT_EQ(session_.run()->lane(session_.run()->span(*session_.selection()).lane).rank, RankId{2})
      << "that of the finding";
  press(&window_.timeline(), "Alt+M");
  EXPECT_EQ(said(), QStringLiteral("There are no marks."));
}

TEST_F(Keys, TheCriticalPathIsBroughtIntoView) {
  session_.set_visible({session_.extent().begin, session_.extent().begin + nanoseconds{1'000'000}});
  press(&window_.timeline(), "P");
  const auto& drawn = session_.report()->critical_path->drawn;
  ASSERT_FALSE(drawn.empty());
  EXPECT_FALSE(intersect(drawn.front().time, session_.visible()).empty());
}

TEST_F(Keys, TheCriticalPathIsNotClaimedWhereItsRanksAreNotShown) {
  const auto said = [this] { return window_.statusBar()->currentMessage(); };
  std::set<RankId> on_path;
  for (const analyzer::PathStretch& one : session_.report()->critical_path->drawn) on_path.insert(one.rank);
  std::vector<RankId> others;
  for (const RankId rank : session_.run()->ranks())
    if (!on_path.contains(rank)) others.push_back(rank);
  ASSERT_FALSE(others.empty()) << "the path of the demo is on its slow rank";
  session_.set_filter({.ranks = others});
  press(&window_.timeline(), "P");
  EXPECT_FALSE(window_.timeline().shows_critical_path());
  EXPECT_TRUE(said().startsWith(QStringLiteral("The critical path is only on ranks that are not shown: ")))
      << said().toStdString();
  session_.set_filter({.ranks = {*on_path.begin()}});
  press(&window_.timeline(), "P");
  EXPECT_TRUE(window_.timeline().shows_critical_path());
  EXPECT_TRUE(said().contains(QStringLiteral(" is shown."))) << said().toStdString();
  press(&window_.timeline(), "P");
  EXPECT_FALSE(window_.timeline().shows_critical_path());
}

TEST(KeysOfTwoRuns, ActOnTheTimelineThatHadTheKeyboardLast) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  window.show();
  for (Session* const session : {&a, &b}) {
    session->show(*run_from_text("0 compute 0 100 gemm\n0 compute 200 300 relu\n"));
    ASSERT_TRUE(testing::becomes_ready(*session));
  }
  ASSERT_TRUE(
      testing::comes_true([&] { return window.timeline_a().is_up_to_date() && window.timeline_b().is_up_to_date(); }));
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  window.timeline_b().setFocus();
  window.findChild<QWidget*>(QStringLiteral("comparison_table"))->setFocus();
  QTest::keySequence(window.focusWidget(), QKeySequence{QStringLiteral("Ctrl+A")});
  EXPECT_FALSE(a.area());
  EXPECT_TRUE(b.area());
}

}  // namespace
}  // namespace rankscope::gui
