// Keys and gestures of the timeline, offscreen.
#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QLineEdit>
#include <QSignalSpy>
#include <array>
#include <random>

#include "gui/views/shown_timeline.h"
#include "gui/waiting.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "support/temporary_folder.h"
#include "timeline/commands.h"

namespace rankscope::gui {
namespace {

using ShownView = testing::ShownTimeline;

TEST(TimelineView, AClickSelectsTheEventUnderTheMouse) {
  ShownView shown;
  const SpanId relu = shown.find(RankId{1}, "relu");
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, shown.middle(relu));
  EXPECT_EQ(shown.session.selection(), relu);
  shown.press("clear");
  EXPECT_EQ(shown.session.selection(), std::nullopt);
}

TEST(TimelineView, TheTooltipOfABroadcastTellsWhoWaitedForItsRoot) {
  ShownView shown{
      "@run clock=same_host\n@group dp 0,1,2\n"
      "0 comm 30000 60000 broadcast group=dp peer=0\n"
      "1 comm 0 60000 broadcast group=dp peer=0\n"
      "2 comm 50000 60000 broadcast group=dp peer=0\n"};
  const auto tip = [&shown](RankId rank) { return shown.tip(shown.middle(shown.find(rank, "broadcast"))); };
  EXPECT_TRUE(tip(RankId{1}).contains(QStringLiteral("waited 30.000 µs for other ranks")))
      << tip(RankId{1}).toStdString();
  EXPECT_TRUE(tip(RankId{0}).startsWith(QStringLiteral("broadcast\n"))) << tip(RankId{0}).toStdString();
  EXPECT_FALSE(tip(RankId{0}).contains(QStringLiteral("waited")));
}

TEST(TimelineView, ADoubleClickZoomsToTheEvent) {
  ShownView shown;
  const SpanId relu = shown.find(RankId{1}, "relu");
  QTest::mouseDClick(&shown.view, Qt::LeftButton, {}, shown.middle(relu));
  EXPECT_EQ(shown.session.visible(), (TimeRange{at(589'999), at(710'001)}));
  shown.press("back");
  EXPECT_EQ(shown.session.visible(), shown.session.extent());
}

TEST(TimelineView, ADragSelectsTimeAndLanes) {
  ShownView shown;
  const QPoint from = shown.middle(shown.find(RankId{0}, "gemm"));
  const QPoint to = shown.middle(shown.find(RankId{1}, "allreduce"));
  shown.drag(from, to);
  ASSERT_TRUE(shown.session.area());
  EXPECT_NEAR(static_cast<double>(ns_of(shown.session.area()->time.begin)), 150'000, 2'500);
  EXPECT_NEAR(static_cast<double>(ns_of(shown.session.area()->time.end)), 800'000, 2'500);
  EXPECT_GE(shown.session.area()->lanes.size(), 3U);
  shown.press("zoom_selection");
  EXPECT_LT(shown.session.visible().length(), nanoseconds{800'000});
}

TEST(TimelineView, ShiftDragAndShiftWheelMoveInTime) {
  ShownView shown;
  shown.session.set_visible({at(500'000), at(1'500'000)});
  const TimeRange before = shown.session.visible();
  shown.drag({700, 300}, {600, 300}, Qt::ShiftModifier);
  EXPECT_GT(shown.session.visible().begin, before.begin);
  EXPECT_EQ(shown.session.visible().length(), before.length());
  const TimeRange dragged = shown.session.visible();
  shown.wheel({700, 300}, {0, 120}, Qt::ShiftModifier);
  EXPECT_LT(shown.session.visible().begin, dragged.begin);
}

TEST(TimelineView, CtrlWheelZoomsAndKeepsTheTimeUnderTheMouse) {
  ShownView shown;
  const SpanId relu = shown.find(RankId{1}, "relu");
  const QPoint at = shown.middle(relu);
  shown.wheel(at, {0, 240}, Qt::ControlModifier);
  EXPECT_NEAR(static_cast<double>(shown.session.visible().length().count()), 2'000'000 * 0.64, 10);
  EXPECT_NEAR(shown.view.box_of(relu)->center().x(), at.x(), 1.5);
}

TEST(TimelineView, CtrlShiftWheelChangesTheHeightOfRows) {
  ShownView shown;
  const double before = shown.view.model().row_height();
  shown.wheel({700, 300}, {0, 120}, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_GT(shown.view.model().row_height(), before);
}

TEST(TimelineView, TheMinimapGoesWhereItIsClicked) {
  ShownView shown;
  shown.session.set_visible({at(0), at(100'000)});
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, {1000, 20});
  EXPECT_GT(shown.session.visible().begin, at(1'400'000));
  EXPECT_EQ(shown.session.visible().length(), nanoseconds{100'000});
}

TEST(TimelineView, AClickOnARankFoldsIt) {
  ShownView shown;
  const std::size_t before = shown.view.model().tracks().tracks.size();
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, {30, 76});
  EXPECT_LT(shown.view.model().tracks().tracks.size(), before);
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, {30, 76});
  EXPECT_EQ(shown.view.model().tracks().tracks.size(), before);
}

TEST(TimelineView, KeysMoveInTime) {
  ShownView shown;
  shown.session.set_visible({at(500'000), at(1'500'000)});
  const TimeRange before = shown.session.visible();
  shown.press("later");
  EXPECT_GT(shown.session.visible().begin, before.begin);
  shown.press("earlier");
  EXPECT_EQ(shown.session.visible(), before);
  shown.press("zoom_in");
  EXPECT_LT(shown.session.visible().length(), before.length());
  shown.press("zoom_out");
  EXPECT_NEAR(static_cast<double>(shown.session.visible().length().count()), 1'000'000, 5);
  shown.press("fit");
  EXPECT_EQ(shown.session.visible(), shown.session.extent());
  shown.press("next_step");
  EXPECT_NE(shown.session.visible(), shown.session.extent());
}

TEST(TimelineView, KeysGoFromEventToEvent) {
  ShownView shown;
  shown.session.select(shown.find(RankId{0}, "gemm"));
  shown.press("next");
  EXPECT_EQ(shown.session.selection(), shown.find(RankId{0}, "relu"));
  shown.press("previous");
  shown.press("next_same");
  EXPECT_EQ(shown.session.selection(), shown.find(RankId{0}, "gemm", 1));
  shown.press("next_rank");
  EXPECT_EQ(shown.session.selection(), shown.find(RankId{1}, "gemm", 1));
  shown.press("previous_rank");
  EXPECT_EQ(shown.session.selection(), shown.find(RankId{0}, "gemm", 1));
  shown.press("next_collective");
  EXPECT_EQ(shown.session.selection(), shown.find(RankId{0}, "allreduce", 1));
  shown.press("follow");
  EXPECT_EQ(shown.session.selection(), shown.find(RankId{1}, "allreduce", 1));
}

TEST(TimelineView, KeysForTheWindowAsk) {
  ShownView shown;
  const QSignalSpy searched{&shown.view, &TimelineView::searchRequested};
  const QSignalSpy helped{&shown.view, &TimelineView::helpRequested};
  const QSignalSpy toggled{&shown.view, &TimelineView::panelsToggled};
  shown.press("search");
  QTest::keyClick(&shown.view, Qt::Key_F1);
  shown.press("panels");
  EXPECT_EQ(searched.count(), 1);
  EXPECT_EQ(helped.count(), 1);
  EXPECT_EQ(toggled.count(), 1);
}

TEST(TimelineView, CopiesTheSelectionAsText) {
  ShownView shown;
  shown.session.select(shown.find(RankId{1}, "relu"));
  shown.press("copy");
  EXPECT_TRUE(QApplication::clipboard()->text().startsWith(QStringLiteral("relu\trank 1\t")));
}

TEST(TimelineView, ItsTableOfKeysHasNoKeyTwice) {
  QStringList keys;
  for (const Command& command : commands()) keys += qt_text(command.keys).split(QLatin1Char{' '});
  const qsizetype count = keys.size();
  EXPECT_EQ(keys.removeDuplicates(), 0) << "of " << count;
}

TEST(TimelineView, TheDocumentationHasItsTableOfKeys) {
  EXPECT_NE(testing::read_file(RANKSCOPE_DOCS "/viewer.md").find(keys_as_markdown()), std::string::npos)
      << keys_as_markdown();
}

/// A fixed seed, so that what fails can be repeated.
TEST(TimelineView, TenThousandRandomGesturesDoNoHarm) {
  ShownView shown;
  std::mt19937 random{20260101};
  const auto below = [&random](int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); };
  const auto place = [&] { return QPoint{below(shown.view.width()), below(shown.view.height())}; };
  const auto modifiers = [&] {
    constexpr std::array all{Qt::NoModifier, Qt::ShiftModifier, Qt::ControlModifier};
    return Qt::KeyboardModifiers{all[random() % all.size()]};
  };
  for (int i = 0; i < 10'000; ++i) {
    switch (below(5)) {
      case 0:
        QTest::mouseClick(&shown.view, Qt::LeftButton, modifiers(), place());
        break;
      case 1:
        shown.drag(place(), place(), modifiers());
        break;
      case 2:
        shown.wheel(place(), {below(480) - 240, below(480) - 240}, modifiers());
        break;
      case 3:
        QTest::mouseDClick(&shown.view, Qt::LeftButton, {}, place());
        break;
      default: {
        const Command& command = commands()[random() % commands().size()];
        command.run(shown.view);
      }
    }
    ASSERT_FALSE(shown.session.visible().empty());
    if (i % 20 == 0) QCoreApplication::processEvents();  // paints
  }
  EXPECT_TRUE(testing::comes_true([&] { return shown.view.is_up_to_date(); }));
}

TEST(MainWindow, MayBeClosedWhileItReads) {
  int told = 0;
  for (int i = 0; i < 3; ++i) {
    Session session;
    QObject::connect(&session, &Session::runOpened, [&told] { ++told; });
    QObject::connect(&session, &Session::failed, [&told] { ++told; });
    MainWindow window{session};
    window.show();
    session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
    EXPECT_TRUE(window.close());
    EXPECT_FALSE(window.isVisible());
  }
  QCoreApplication::processEvents();
  EXPECT_EQ(told, 0) << "what was read belongs to nobody any more";
}

/// Pictures of the states that are met are kept where RANKSCOPE_SCREENSHOTS names a folder.
void keep_picture(MainWindow& window, const char* name) {
  EXPECT_TRUE(testing::comes_true([&] { return window.timeline().is_up_to_date(); }));
  const QString folder = qEnvironmentVariable("RANKSCOPE_SCREENSHOTS");
  if (!folder.isEmpty()) window.grab().save(QStringLiteral("%1/%2.png").arg(folder, QString::fromLatin1(name)));
}

TEST(MainWindow, LeadsFromAFindingToTheSlowRankInTheTimeline) {
  Session session;
  MainWindow window{session};
  window.resize(1280, 800);
  window.show();
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_TRUE(testing::comes_true([&] { return window.timeline().is_up_to_date(); }));
  keep_picture(window, "opened");
  auto* const table = window.findChild<QWidget*>(QStringLiteral("findings_table"));
  ASSERT_NE(table, nullptr);
  QTest::mouseClick(table->findChild<QWidget*>(QStringLiteral("qt_scrollarea_viewport")), Qt::LeftButton, {}, {60, 8});
  EXPECT_LT(session.visible().length(), session.extent().length() / 4);
  keep_picture(window, "finding");
  window.timeline().navigator().next_collective(Direction::forward);
  ASSERT_TRUE(session.selection());
  window.timeline().show_critical_path(true);
  keep_picture(window, "collective");
  window.timeline().set_colouring(Colouring::by_lateness);
  keep_picture(window, "lateness");
}

TEST(MainWindow, BringsUpThePanelThatAKeyAsksFor) {
  Session session;
  MainWindow window{session};
  window.resize(1280, 800);
  window.show();
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(session));
  const analyzer::StepWindow step = session.report()->steps->windows[3];
  session.set_visible(step.window);
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  for (const auto& [command, id] : {std::pair{"operators", "flame"}, {"memory", "memory"}, {"pipeline", "pipeline"}}) {
    const auto* const action = window.timeline().findChild<QAction*>(QString::fromLatin1(command));
    window.timeline().setFocus();
    QTest::keySequence(&window.timeline(), action->shortcuts().front());
    auto* const dock = window.findChild<QDockWidget*>(QString::fromLatin1(id));
    EXPECT_TRUE(testing::comes_true([&] { return dock->widget()->isVisible(); })) << id;
    EXPECT_TRUE(dock->isAncestorOf(window.focusWidget())) << id;
    keep_picture(window, (std::string{"window_"} + id).c_str());
  }
}

TEST(MainWindow, ShowsWhatAPanelSearchesFor) {
  Session session;
  MainWindow window{session};
  session.show(*run_from_text(testing::two_ranks));
  session.set_filter({.text = "relu"});
  EXPECT_EQ(window.findChild<QLineEdit*>(QStringLiteral("search"))->text(), QStringLiteral("relu"));
  EXPECT_EQ(session.filter().text, "relu");
}

}  // namespace
}  // namespace rankscope::gui
