// Rows of the timeline: what is drawn of nested events and of folded ranks, and what is said of it.
#include <gtest/gtest.h>

#include <QScrollBar>

#include "base/colours.h"
#include "gui/views/pictures.h"
#include "gui/views/shown_timeline.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::gui {
namespace {

using ShownRows = testing::ShownTimeline;

/// So many calls inside each other on one lane, and what runs in the innermost.
std::string nested(int depth) {
  std::string text;
  for (int i = 0; i < depth; ++i) text += format("0 python {} {} f{}\n", i * 1000, 1'000'000 - i * 1000, i);
  return text;
}

TEST(TimelineRows, SaysHowManyRowsAreTooDeepToBeDrawn) {
  ShownRows shown{nested(70).c_str()};
  const Track* lane = nullptr;
  for (const Track& track : shown.view.model().tracks().tracks)
    if (track.kind == TrackKind::lane) lane = &track;
  ASSERT_NE(lane, nullptr);
  EXPECT_EQ(lane->rows, 64U);
  EXPECT_EQ(lane->deeper_rows, 6U);
  EXPECT_TRUE(shown.view.box_of(shown.find(RankId{0}, "f63")));
  EXPECT_FALSE(shown.view.box_of(shown.find(RankId{0}, "f64")));
}

/// `rankscope view --picture` makes its window so much higher.
TEST(TimelineRows, AreAllInSightWhereTheViewIsHigherByTheRangeOfItsScrollBar) {
  std::string six_ranks;
  for (int rank = 0; rank < 6; ++rank) six_ranks += format("{} compute 0 10 gemm\n", rank);
  ShownRows shown{six_ranks.c_str()};
  shown.view.resize(1200, 200);
  const auto* const bar = shown.view.findChild<QScrollBar*>();
  ASSERT_NE(bar, nullptr);
  const int missing = bar->maximum();
  ASSERT_GT(missing, 0);
  shown.view.resize(1200, 200 + missing - 1);
  EXPECT_EQ(bar->maximum(), 1);
  shown.view.resize(1200, 200 + missing);
  EXPECT_EQ(bar->maximum(), 0);
}

TEST(TimelineRows, StreamsStandInTheOrderOfTheirNumbers) {
  ShownRows shown{
      "@rank 0\n@lane 0 s10 kind=stream number=10 device=0\n@lane 0 s2 kind=stream number=2 device=0\n"
      "0 compute 0 10 gemm lane=s10\n0 compute 0 10 gemm lane=s2\n"};
  std::vector<std::string> names;
  for (const Track& track : shown.view.model().tracks().tracks)
    if (track.kind == TrackKind::lane) names.push_back(track.name);
  EXPECT_EQ(names, (std::vector<std::string>{"s2", "s10"}));
}

TEST(TimelineRows, GoesToTheNearestDrawnEventAroundOneThatIsTooDeep) {
  ShownRows shown{nested(70).c_str()};
  const SpanId deepest = shown.find(RankId{0}, "f69");
  shown.session.go_to(deepest);
  EXPECT_EQ(shown.session.selection(), deepest);
  const auto around = shown.view.box_of(shown.find(RankId{0}, "f63"));
  ASSERT_TRUE(around);
  EXPECT_TRUE(shown.view.rect().contains(around->toAlignedRect())) << "scrolled into view";
  ASSERT_TRUE(testing::comes_true([&] { return shown.view.is_up_to_date(); }));
  // The frame is two pixels wide and dashed: some of its upper edge has the colour of selections.
  const QImage picture = shown.view.grab().toImage();
  const int y = static_cast<int>(around->top());
  int framed = 0;
  for (int x = static_cast<int>(around->left()); x < static_cast<int>(around->right()); ++x)
    if (picture.pixel(x, y) == colours_of(Theme::light).accent) ++framed;
  EXPECT_GT(framed, around->width() / 4);
  EXPECT_LT(framed, around->width() * 0.9);
  testing::paint(shown.view, {1200, 700}, QStringLiteral("too_deep"));
}

TEST(TimelineRows, TheNameOfATallLaneStaysInSight) {
  ShownRows shown{nested(70).c_str()};
  const auto letters_at_the_top = [&shown] {
    const QImage names = shown.view.grab(QRect{10, 68, 150, 30}).toImage();
    int dark = 0;
    for (int y = 0; y < names.height(); ++y)
      for (int x = 0; x < names.width(); ++x) dark += qGray(names.pixel(x, y)) < 100 ? 1 : 0;
    return dark;
  };
  shown.view.scroll(400);
  EXPECT_GT(letters_at_the_top(), 20);
}

TEST(TimelineRows, AClickOnTheNameOfADeepLaneShowsOneRowOrAll) {
  ShownRows shown{nested(20).c_str()};
  const SpanId deepest = shown.find(RankId{0}, "f19");
  ASSERT_TRUE(shown.view.box_of(deepest));
  const QPoint name{60, shown.middle(shown.find(RankId{0}, "f0")).y()};
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, name);
  EXPECT_FALSE(shown.view.box_of(deepest));
  EXPECT_TRUE(shown.view.box_of(shown.find(RankId{0}, "f0")));
  QTest::mouseClick(&shown.view, Qt::LeftButton, {}, name);
  EXPECT_TRUE(shown.view.box_of(deepest));
}

TEST(TimelineRows, ALaneShowsAllItsRowsWhenADeepEventIsGoneTo) {
  ShownRows shown{("0 compute 0 100 gemm\n" + nested(30)).c_str()};
  const SpanId deep = shown.find(RankId{0}, "f20");
  EXPECT_FALSE(shown.view.box_of(deep)) << "eight rows at first";
  shown.session.go_to(deep);
  EXPECT_TRUE(shown.view.box_of(deep));
}

TEST(TimelineRows, WhatAFoldedRankDoesNotDrawHasNoBox) {
  ShownRows shown;
  const SpanId kernel = shown.find(RankId{0}, "gemm");
  const SpanId comm = shown.find(RankId{0}, "allreduce");
  const SpanId step = shown.find(RankId{0}, "step");
  shown.view.model().fold_all(true);
  for (const SpanId drawn : {kernel, comm}) {
    ASSERT_TRUE(shown.view.box_of(drawn));
    EXPECT_EQ(shown.view.span_at(shown.view.box_of(drawn)->center()), drawn);
  }
  EXPECT_GT(shown.view.box_of(comm)->center().y(), shown.view.box_of(kernel)->center().y()) << "below the kernels";
  EXPECT_FALSE(shown.view.box_of(step));
  shown.session.toggle_pin(shown.session.run()->span(step).lane);
  ASSERT_TRUE(shown.view.box_of(step)) << "on the pinned lane";
  EXPECT_EQ(shown.view.span_at(shown.view.box_of(step)->center()), step);
}

TEST(TimelineRows, AFoldedRankHasTicksAtTheHitsOfTheSearch) {
  ShownRows shown;
  shown.view.model().fold_all(true);
  const auto ticks = [&shown] {
    EXPECT_TRUE(testing::comes_true([&] { return shown.view.is_up_to_date(); }));
    const QRect row = shown.view.box_of(shown.find(RankId{0}, "gemm"))->toAlignedRect();
    const QImage picture = shown.view.grab(QRect{200, row.top(), shown.view.width() - 230, row.height()}).toImage();
    int found = 0;
    for (int x = 0; x < picture.width(); ++x)
      for (int y = 0; y < picture.height(); ++y)
        if (picture.pixel(x, y) == colours_of(Theme::light).accent) {
          ++found;
          break;
        }
    return found;
  };
  EXPECT_EQ(ticks(), 0);
  shown.session.set_filter({.text = "allreduce"});
  ASSERT_TRUE(testing::comes_true([&] { return shown.view.navigator().hits() != nullptr; }));
  EXPECT_GE(ticks(), 2) << "two events, though they are on another lane";
  EXPECT_LE(ticks(), 8);
  shown.session.set_filter({});
  EXPECT_EQ(ticks(), 0);
}

/// Pixels of a dashed line at a moment, over the row of a span.
int dashes_at(ShownRows& shown, SpanId span, RunTime moment) {
  EXPECT_TRUE(testing::comes_true([&] { return shown.view.is_up_to_date(); }));
  const QImage picture = shown.view.grab().toImage();
  const TimeScale scale = shown.view.navigator().scale();
  const double left = shown.view.picture_size().width() - scale.width;
  const QRectF row = *shown.view.box_of(span);
  int dashes = 0;
  for (int y = static_cast<int>(row.top()); y < static_cast<int>(row.bottom()); ++y)
    for (const int near : {-1, 0, 1})
      if (picture.pixel(static_cast<int>(left + scale.x_of(moment)) + near, y) == colours_of(Theme::light).faint) {
        ++dashes;
        break;
      }
  return dashes;
}

TEST(TimelineRows, DashedLinesStandWhereTheStepsOfTheirRankStart) {
  ShownRows shown{
      "@run world_size=2 clock=same_host clock_error=1\n"
      "0 step 0 1000000 step index=0\n0 step 1000000 2000000 step index=1\n0 compute 100 200000 gemm\n"
      "1 step 300000 1300000 step index=0\n1 step 1300000 2300000 step index=1\n1 compute 400000 500000 gemm\n"};
  shown.view.set_colouring(Colouring::by_kind);
  const SpanId first = shown.find(RankId{0}, "gemm");
  const SpanId second = shown.find(RankId{1}, "gemm");
  EXPECT_GT(dashes_at(shown, first, at(1'000'000)), 3);
  EXPECT_EQ(dashes_at(shown, first, at(1'300'000)), 0);
  EXPECT_GT(dashes_at(shown, second, at(1'300'000)), 3);
  EXPECT_EQ(dashes_at(shown, second, at(1'000'000)), 0) << "the other rank starts its step there";
  shown.session.set_filter({.ranks = {RankId{1}}});
  EXPECT_EQ(dashes_at(shown, second, at(1'000'000)), 0);
  EXPECT_GT(dashes_at(shown, second, at(1'300'000)), 3);
}

constexpr const char* two_hosts =
    "@run clock=same_host\n@rank 0 host=a\n@rank 1 host=a\n@rank 2 host=b\n"
    "0 compute 0 300000 gemm\n1 compute 0 300000 gemm\n2 compute 0 300000 gemm\n";

TEST(TimelineRows, KeysFoldARankAndAHost) {
  ShownRows shown{two_hosts};
  const auto names = [&shown] {
    std::string all;
    for (const Track& track : shown.view.model().tracks().tracks)
      if (header_of(track)) all += track.name + (track.folded ? " folded, " : ", ");
    return all;
  };
  ASSERT_EQ(names(), "a, rank 0, rank 1, b, rank 2, ");
  shown.press("next_header");
  shown.press("next_header");
  shown.press("fold_one");
  EXPECT_EQ(names(), "a, rank 0 folded, rank 1, b, rank 2, ");
  shown.press("previous_header");
  shown.press("fold_one");
  EXPECT_EQ(names(), "a folded, b, rank 2, ");
  shown.press("fold_one");
  shown.press("next_header");
  shown.press("fold_one");
  EXPECT_EQ(names(), "a, rank 0, rank 1, b, rank 2, ");
  shown.session.select(shown.find(RankId{2}, "gemm"));
  shown.press("fold_one");
  EXPECT_EQ(names(), "a, rank 0, rank 1, b, rank 2 folded, ") << "that of the selected event";
}

TEST(TimelineRows, TellsAssistiveTechnologyWhatItTellsOthers) {
  ShownRows shown;
  const auto said = [&shown] { return shown.view.accessibleDescription(); };
  EXPECT_EQ(said(), QStringLiteral("All ranks on one time axis. Press F1 for the keys."));
  shown.press("next_header");
  const Track& rank = shown.view.model().tracks().tracks.front();
  EXPECT_EQ(said(), QString::fromStdString(shown.view.model().spoken(rank)));
  EXPECT_TRUE(said().startsWith(QStringLiteral("rank 0"))) << said().toStdString();
  EXPECT_TRUE(said().contains(QStringLiteral("of a step relative to the median rank"))) << said().toStdString();
  shown.press("fold_one");
  EXPECT_TRUE(said().contains(QStringLiteral(", folded"))) << said().toStdString();
  shown.press("fold_one");
  shown.session.select(shown.find(RankId{1}, "relu"));
  EXPECT_TRUE(said().startsWith(QStringLiteral("relu, compute, 100.000 µs; rank 1 / "))) << said().toStdString();
}

}  // namespace
}  // namespace rankscope::gui
