// Panels that are hidden and come back, and the layout that they begin with.
#include <gtest/gtest.h>

#include <QAction>
#include <QDockWidget>
#include <QLineEdit>
#include <QSettings>
#include <QTableView>
#include <map>

#include "gui/waiting.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/views/compare/compare_window.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"

namespace rankscope::gui {
namespace {

/// A panel as its user sees it.
struct SeenPanel {
  bool open = false;
  bool in_front = false;  ///< of the tabs beside it
  bool floating = false;
  Qt::DockWidgetArea area = Qt::NoDockWidgetArea;
  QSize size{};
  bool operator==(const SeenPanel&) const = default;
};
using SeenPanels = std::map<QString, SeenPanel>;

class PanelsOfAWindow : public ::testing::Test {
 protected:
  PanelsOfAWindow() {
    QSettings{}.remove(QStringLiteral("window"));  // as it is before anybody moved a panel
    window_.resize(1280, 800);
    window_.show();
    session_.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
    EXPECT_TRUE(testing::becomes_ready(session_));
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window_));
    QTest::qWait(50);  // until all is placed
  }
  QDockWidget* dock(const char* id) { return window_.findChild<QDockWidget*>(QString::fromLatin1(id)); }
  void press(const char* command) {
    const auto* const action = window_.findChild<QAction*>(QString::fromLatin1(command));
    ASSERT_NE(action, nullptr) << command;
    QTest::keySequence(window_.focusWidget(), action->shortcuts().front());
    QTest::qWait(50);
  }
  [[nodiscard]] SeenPanels see() {
    SeenPanels seen;
    for (const QDockWidget* const one : window_.findChildren<QDockWidget*>())
      seen[one->objectName()] = {one->isVisible(), !one->visibleRegion().isEmpty(), one->isFloating(),
                                 window_.dockWidgetArea(const_cast<QDockWidget*>(one)),
                                 one->visibleRegion().isEmpty() ? QSize{} : one->size()};
    return seen;
  }
  static void expect_same(const SeenPanels& seen, const SeenPanels& expected) {
    for (const auto& [id, panel] : expected) {
      const SeenPanel& now = seen.at(id);
      EXPECT_EQ(now.open, panel.open) << id.toStdString();
      EXPECT_EQ(now.in_front, panel.in_front) << id.toStdString();
      EXPECT_EQ(now.floating, panel.floating) << id.toStdString();
      EXPECT_EQ(now.area, panel.area) << id.toStdString();
      EXPECT_NEAR(now.size.width(), panel.size.width(), 3) << id.toStdString();
      EXPECT_NEAR(now.size.height(), panel.size.height(), 3) << id.toStdString();
    }
  }

  Session session_;
  MainWindow window_{session_};
};

TEST_F(PanelsOfAWindow, ComeBackAsTheyWereWithTheSameTabsAndSizes) {
  dock("memory")->raise();
  dock("events")->close();
  window_.resizeDocks({dock("findings")}, {330}, Qt::Vertical);
  window_.resizeDocks({dock("findings"), dock("step_map")}, {300, 500}, Qt::Horizontal);
  QTest::qWait(50);
  const SeenPanels before = see();
  ASSERT_TRUE(before.at(QStringLiteral("memory")).in_front);
  press("panels");
  for (const auto& [id, panel] : see()) EXPECT_FALSE(panel.open) << id.toStdString();
  press("panels");
  expect_same(see(), before);
  EXPECT_FALSE(dock("events")->isVisible()) << "it was closed before";
}

TEST_F(PanelsOfAWindow, GiveTheKeyboardToTheTimelineWhenTheyAreHidden) {
  auto* const findings = window_.findChild<QTableView*>(QStringLiteral("findings_table"));
  findings->setFocus();
  ASSERT_TRUE(findings->hasFocus());
  press("panels");
  EXPECT_TRUE(window_.timeline().hasFocus());
  const TimeRange before = session_.visible();
  press("zoom_in");
  EXPECT_NE(session_.visible(), before) << "the key is no text in a field";
  EXPECT_TRUE(window_.findChild<QLineEdit*>(QStringLiteral("search"))->text().isEmpty());
}

TEST_F(PanelsOfAWindow, APanelOpenedMeanwhileDoesNotLoseTheOthers) {
  const SeenPanels before = see();
  press("panels");
  press("memory");
  EXPECT_TRUE(dock("memory")->isVisible());
  window_.timeline().setFocus();
  press("panels");
  expect_same(see(), before);
}

TEST_F(PanelsOfAWindow, BeginAnewWhenTheirLayoutIsReset) {
  const auto reset = [this] {
    window_.findChild<QAction*>(QStringLiteral("reset_layout"))->trigger();
    QTest::qWait(50);
  };
  const SeenPanels at_first = see();
  reset();  // the sizes are parts of that of the window
  const SeenPanels before = see();
  for (const auto& [id, panel] : at_first) {
    EXPECT_EQ(before.at(id).in_front, panel.in_front) << id.toStdString();
    EXPECT_EQ(before.at(id).area, panel.area) << id.toStdString();
  }
  dock("memory")->setFloating(true);
  dock("details")->close();
  window_.addDockWidget(Qt::LeftDockWidgetArea, dock("findings"));
  QTest::qWait(50);
  reset();
  expect_same(see(), before);
}

TEST(PanelOfTwoRuns, GivesTheKeyboardToTheTimelineWhenItIsHidden) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  window.show();
  for (Session* const session : {&a, &b}) {
    session->show(*run_from_text("0 compute 0 100 gemm\n0 compute 200 300 relu\n"));
    ASSERT_TRUE(testing::becomes_ready(*session));
  }
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  window.timeline_b().setFocus();
  auto* const table = window.findChild<QTableView*>(QStringLiteral("comparison_table"));
  table->setFocus();
  QTest::keySequence(table, QKeySequence{QStringLiteral("Q")});
  EXPECT_FALSE(window.findChild<QDockWidget*>()->isVisible());
  EXPECT_TRUE(window.timeline_b().hasFocus());
}

}  // namespace
}  // namespace rankscope::gui
