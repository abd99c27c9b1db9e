// What a click with the right button on the timeline offers.
#include <gtest/gtest.h>

#include <QContextMenuEvent>
#include <QMenu>
#include <QSignalSpy>
#include <algorithm>

#include "gui/views/shown_timeline.h"
#include "rankscope/core/model/run.h"

namespace rankscope::gui {
namespace {

struct ShownMenus : testing::ShownTimeline {
  /// The entry that begins so, of the menu that opens there; null: the menu does not have it.
  QAction* entry(QPoint at, const char* text) {
    for (QMenu* const old : view.findChildren<QMenu*>(QStringLiteral("timeline_menu"))) delete old;
    QContextMenuEvent event{QContextMenuEvent::Mouse, at, view.mapToGlobal(at)};
    QApplication::sendEvent(&view, &event);
    const auto* const menu = view.findChild<QMenu*>(QStringLiteral("timeline_menu"));
    if (menu == nullptr) return nullptr;
    for (QAction* const action : menu->actions())
      if (action->text().startsWith(QLatin1String{text})) return action;
    return nullptr;
  }
};

TEST(TimelineMenu, OfAnEventSelectsItAndHasItsCommands) {
  ShownMenus shown;
  const SpanId relu = shown.find(RankId{1}, "relu");
  QAction* const next = shown.entry(shown.middle(relu), "Same event on the previous rank");
  EXPECT_EQ(shown.session.selection(), relu);
  ASSERT_NE(next, nullptr);
  next->trigger();
  EXPECT_EQ(shown.session.selection(), shown.find(RankId{0}, "relu"));
  shown.entry(shown.middle(relu), "Highlight all events with this name")->trigger();
  EXPECT_EQ(shown.session.filter().text, "relu");
}

TEST(TimelineMenu, OfALanePinsIt) {
  ShownMenus shown;
  const SpanId relu = shown.find(RankId{1}, "relu");
  const QPoint name{60, shown.middle(relu).y()};
  shown.entry(name, "Pin this lane")->trigger();
  EXPECT_EQ(shown.session.pinned(), std::vector{shown.session.run()->span(relu).lane});
  EXPECT_FALSE(shown.session.selection()) << "the name of a lane is no event";
}

TEST(TimelineMenu, OfALaneHidesAndMovesIt) {
  ShownMenus shown;
  const auto lanes_of = [&shown](RankId rank) {
    std::vector<std::string> names;
    for (const Track& track : shown.view.model().tracks().tracks)
      if (track.kind == TrackKind::lane && track.rank == rank) names.push_back(track.name);
    return names;
  };
  const QPoint name{60, shown.middle(shown.find(RankId{0}, "relu")).y()};
  const std::vector<std::string> before = lanes_of(RankId{0});
  ASSERT_GE(before.size(), 3U);
  shown.entry(name, "Move down")->trigger();
  EXPECT_EQ(lanes_of(RankId{0})[0], before[1]);
  EXPECT_EQ(lanes_of(RankId{0})[1], before[0]);
  EXPECT_EQ(lanes_of(RankId{1}), before) << "of the other rank they stay";
  const QPoint moved{60, shown.middle(shown.find(RankId{0}, "relu")).y()};
  shown.entry(moved, "Hide")->trigger();
  EXPECT_EQ(lanes_of(RankId{0}).size(), before.size() - 1);
  shown.entry({60, 76}, "Show hidden lanes (1)")->trigger();
  EXPECT_EQ(lanes_of(RankId{0}).size(), before.size());
}

TEST(TimelineMenu, OfALaneShowsOnlyThoseOfItsNameAndThenAllAgain) {
  ShownMenus shown;
  QObject::connect(&shown.view, &TimelineView::lanesChosen, &shown.view,
                   [&shown](const QString& lanes) { shown.view.model().choose_lanes(lanes.toStdString()); });
  const auto lanes = [&shown] {
    return std::ranges::count(shown.view.model().tracks().tracks, TrackKind::lane, &Track::kind);
  };
  const auto all = lanes();
  shown.entry({60, shown.middle(shown.find(RankId{0}, "relu")).y()}, "Show only lanes with this name")->trigger();
  EXPECT_EQ(lanes(), 2) << "one of each rank";
  shown.entry({60, 76}, "Show all lanes")->trigger();
  EXPECT_EQ(lanes(), all);
}

TEST(TimelineMenu, OfAPinnedCopyUnpinsItAndHidesNothing) {
  ShownMenus shown;
  shown.session.toggle_pin(shown.session.run()->span(shown.find(RankId{0}, "relu")).lane);
  EXPECT_NE(shown.entry({60, 74}, "Unpin this lane"), nullptr);
  EXPECT_EQ(shown.entry({60, 74}, "Hide"), nullptr);
}

TEST(TimelineMenu, ClosesWhenAnotherRunIsOpened) {
  ShownMenus shown;
  ASSERT_NE(shown.entry(shown.middle(shown.find(RankId{1}, "relu")), "Highlight all"), nullptr);
  shown.session.show(*run_from_text("0 compute 0 100 gemm\n"));
  QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
  EXPECT_EQ(shown.view.findChild<QMenu*>(QStringLiteral("timeline_menu")), nullptr) << "its event is gone";
}

TEST(TimelineMenu, OfARankFoldsItAndShowsItAlone) {
  ShownMenus shown;
  constexpr QPoint first_rank{60, 76};
  const QSignalSpy chosen{&shown.view, &TimelineView::ranksChosen};
  shown.entry(first_rank, "Show only rank 0")->trigger();
  ASSERT_EQ(chosen.count(), 1);
  EXPECT_EQ(chosen.front().front().toString(), QStringLiteral("0"));
  shown.entry(first_rank, "Fold")->trigger();
  EXPECT_TRUE(shown.view.model().tracks().of_rank(RankId{0})->folded);
}

TEST(TimelineMenu, OfARangeActsOnTheRange) {
  ShownMenus shown;
  const SpanId relu = shown.find(RankId{1}, "relu");
  shown.session.select_area(Area{{at(100'000), at(900'000)}, {shown.session.run()->span(relu).lane}});
  shown.entry(shown.middle(relu), "Zoom to the selection")->trigger();
  EXPECT_TRUE(shown.session.area()) << "the click selects no event";
  EXPECT_EQ(shown.session.visible(), (TimeRange{at(19'999), at(980'001)}));
}

TEST(TimelineMenu, WithNothingUnderTheMouseIsAboutTheView) {
  ShownMenus shown;
  EXPECT_NE(shown.entry({600, 20}, "Show the whole run"), nullptr);
}

}  // namespace
}  // namespace rankscope::gui
