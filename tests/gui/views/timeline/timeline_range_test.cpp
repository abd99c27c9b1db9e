// Ranges of time: drawn, moved by their ends, and taken from the row of steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gui/views/shown_timeline.h"
#include "rankscope/core/model/run.h"

namespace rankscope::gui {
namespace {

/// Two ranks with two steps of 1 ms each.
struct ShownRanges : testing::ShownTimeline {
  /// Where a moment is, in pixels.
  [[nodiscard]] int x_of(RunTime moment) {
    const TimeScale scale = view.navigator().scale();
    return static_cast<int>(std::lround(view.picture_size().width() - scale.width + scale.x_of(moment)));
  }
  /// The middle of the row of steps of a rank, before anything is scrolled or pinned.
  [[nodiscard]] int y_of_steps(RankId rank) {
    constexpr int top_of_rows = 66;
    const auto& tracks = view.model().tracks().tracks;
    const auto found = std::ranges::find_if(
        tracks, [rank](const Track& track) { return track.kind == TrackKind::steps && track.rank == rank; });
    EXPECT_NE(found, tracks.end());
    return top_of_rows + static_cast<int>(found->y + found->height / 2);
  }
  [[nodiscard]] int y_of(SpanId span) { return middle(span).y(); }
  [[nodiscard]] std::optional<TimeRange> selected() const {
    return session.area() ? std::optional{session.area()->time} : std::nullopt;
  }
};

TEST(TimelineRanges, AClickInTheRowOfStepsSelectsTheStepOfTheRank) {
  ShownRanges shown;
  shown.session.select(shown.find(RankId{0}, "gemm"));
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, {shown.x_of(at(1'500'000)), shown.y_of_steps(RankId{1})});
  EXPECT_EQ(shown.selected(), (TimeRange{at(1'000'000), at(2'000'000)}));
  EXPECT_FALSE(shown.session.selection());
  const auto& run = *shown.session.run();
  for (const LaneId lane : shown.session.area()->lanes) EXPECT_EQ(run.lane(lane).rank, RankId{1});
  EXPECT_EQ(shown.session.area()->lanes.size(),
            static_cast<std::size_t>(std::ranges::count(run.lanes(), RankId{1}, &Lane::rank)));
}

TEST(TimelineRanges, ADoubleClickInTheRowOfStepsZoomsToTheStep) {
  ShownRanges shown;
  QTest::mouseDClick(&shown.view, Qt::LeftButton, {}, {shown.x_of(at(500'000)), shown.y_of_steps(RankId{0})});
  EXPECT_EQ(shown.selected(), (TimeRange{at(0), at(1'000'000)}));
  EXPECT_EQ(shown.session.visible(), (TimeRange{at(-100'001), at(1'100'001)}));
}

TEST(TimelineRanges, AStepSaysItsNumberAndLengthUnderTheMouse) {
  ShownRanges shown;
  const QString tip = shown.tip({shown.x_of(at(1'500'000)), shown.y_of_steps(RankId{1})});
  EXPECT_EQ(tip, QStringLiteral("step 1\n1.000 ms\nrank 1 / steps"));
}

TEST(TimelineRanges, TheEndsOfADrawnRangeSnapToEventsAndSteps) {
  ShownRanges shown;
  const int y = shown.y_of(shown.find(RankId{0}, "gemm"));
  shown.drag({shown.x_of(at(1'000'000)) + 4, y}, {shown.x_of(at(1'300'000)) - 3, y + 2});
  EXPECT_EQ(shown.selected(), (TimeRange{at(1'000'000), at(1'300'000)})) << "the second gemm of rank 0";
  shown.drag({shown.x_of(at(300'000)) + 3, y}, {shown.x_of(at(1'000'000)) + 3, y});
  EXPECT_EQ(shown.selected(), (TimeRange{at(300'000), at(1'000'000)})) << "a level line, from an event to a step";
}

TEST(TimelineRanges, ARangeDrawnInTheRulerSnapsToStepsOnly) {
  ShownRanges shown;
  constexpr int y = 55;
  shown.drag({shown.x_of(at(1'000'000)) - 4, y}, {shown.x_of(at(2'000'000)) - 3, y});
  EXPECT_EQ(shown.selected(), (TimeRange{at(1'000'000), at(2'000'000)}));
  shown.drag({shown.x_of(at(1'000'000)) - 4, y}, {shown.x_of(at(1'300'000)) + 3, y});
  EXPECT_EQ(shown.selected()->begin, at(1'000'000));
  EXPECT_NE(shown.selected()->end, at(1'300'000)) << "of which row, nobody knows";
}

TEST(TimelineRanges, CtrlDrawsWithoutSnapping) {
  ShownRanges shown;
  const int y = shown.y_of(shown.find(RankId{0}, "gemm"));
  shown.drag({shown.x_of(at(1'000'000)) + 4, y}, {shown.x_of(at(1'300'000)) - 3, y + 2}, Qt::ControlModifier);
  ASSERT_TRUE(shown.selected());
  EXPECT_GT(shown.selected()->begin, at(1'000'000));
  EXPECT_LT(shown.selected()->end, at(1'300'000));
}

TEST(TimelineRanges, AnEndCanBeMovedAfterwards) {
  ShownRanges shown;
  const SpanId gemm = shown.find(RankId{0}, "gemm");
  const LaneId lane = shown.session.run()->span(gemm).lane;
  shown.session.select_area(Area{{at(1'000'000), at(1'300'000)}, {lane}});
  const int y = shown.y_of(gemm);
  shown.drag({shown.x_of(at(1'300'000)), y}, {shown.x_of(at(1'700'000)), y});
  EXPECT_EQ(shown.selected()->begin, at(1'000'000));
  EXPECT_NEAR(static_cast<double>(ns_of(shown.selected()->end)), 1'700'000, 2'500);
  EXPECT_EQ(shown.session.area()->lanes, std::vector{lane});
  shown.drag({shown.x_of(at(1'000'000)) + 1, y}, {shown.x_of(at(300'000)) + 2, y});
  EXPECT_EQ(shown.selected()->begin, at(300'000)) << "snapped to the end of an event";
  EXPECT_NEAR(static_cast<double>(ns_of(shown.selected()->end)), 1'700'000, 2'500);
}

TEST(TimelineRanges, AClickAtAnEndSelectsTheEventThere) {
  ShownRanges shown;
  const SpanId relu = shown.find(RankId{0}, "relu");
  shown.session.select_area(Area{{at(0), at(300'000)}, {shown.session.run()->span(relu).lane}});
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, {shown.x_of(at(300'000)) + 2, shown.y_of(relu)});
  EXPECT_EQ(shown.session.selection(), relu);
  EXPECT_FALSE(shown.selected());
}

TEST(TimelineRanges, AKeySelectsTheStepOfTheSelectedEvent) {
  ShownRanges shown;
  shown.session.select(shown.find(RankId{1}, "gemm", 1));
  shown.press("select_step");
  EXPECT_EQ(shown.selected(), (TimeRange{at(1'000'000), at(2'000'000)}));
}

}  // namespace
}  // namespace rankscope::gui
