// Events added up by their path, to the nanosecond.
#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/flame/flame_model.h"
#include "rankscope/gui/models/flame/flame_tree.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"

namespace rankscope::gui {
namespace {

FlameTree tree_of(const Run& run, TimeRange range, std::vector<LaneId> lanes = {}) {
  return *flame_tree(run, LaneBlocks{run}, {RankId{0}, range, std::move(lanes)}, {});
}

/// The frame at the end of a path of names below the only lane.
const FlameFrame* frame_at(const FlameTree& tree, const Run& run, std::initializer_list<std::string_view> path) {
  const FlameFrame* here = &tree.frame(tree.frame(0).children.front());
  for (const std::string_view name : path) {
    const auto found = std::ranges::find_if(
        here->children, [&](std::uint32_t child) { return run.text(tree.frame(child).name) == name; });
    if (found == here->children.end()) return nullptr;
    here = &tree.frame(*found);
  }
  return here;
}

TEST(FlameTree, AddsUpCallsOfTheSamePathAndKeepsOtherPathsApart) {
  const auto run =
      *run_from_text("0 forward 0 100 layer\n0 op 10 30 mm\n0 op 40 70 mm\n0 op 45 50 view\n0 op 200 210 mm\n");
  const FlameTree tree = tree_of(*run, run->extent());
  const FlameFrame& inside = *frame_at(tree, *run, {"layer", "mm"});
  EXPECT_EQ(inside.count, 2);
  EXPECT_EQ(inside.total_ns, 50);
  EXPECT_EQ(inside.self_ns, 45);
  EXPECT_EQ(inside.longest_ns, 30);
  EXPECT_EQ(run->span(inside.longest).time.begin, at(40));
  EXPECT_EQ(frame_at(tree, *run, {"mm"})->total_ns, 10);
  EXPECT_EQ(frame_at(tree, *run, {"layer"})->self_ns, 50);
  EXPECT_EQ(tree.frame(0).total_ns, 110);
}

TEST(FlameTree, WhatOverlapsInsideACallIsTakenFromItsSelfTimeOnce) {
  const auto run = *run_from_text("0 op 0 10 P\n0 op 0 8 A\n0 op 5 9 B\n");
  const FlameTree tree = tree_of(*run, run->extent());
  EXPECT_EQ(frame_at(tree, *run, {"P"})->self_ns, 1);
  EXPECT_EQ(frame_at(tree, *run, {"P", "A"})->self_ns, 8);
  EXPECT_EQ(frame_at(tree, *run, {"P", "B"})->self_ns, 4);
  const FlameTree part = tree_of(*run, {at(6), at(8)});
  EXPECT_NE(frame_at(part, *run, {"P", "B"}), nullptr) << "B is no part of A, however the range cuts them";
}

TEST(FlameTree, CutsEventsAtTheRange) {
  const auto run = *run_from_text("0 forward 0 100 layer\n0 op 10 30 mm\n0 op 60 90 relu\n");
  const FlameTree tree = tree_of(*run, {at(20), at(50)});
  EXPECT_EQ(frame_at(tree, *run, {"layer"})->total_ns, 30);
  EXPECT_EQ(frame_at(tree, *run, {"layer"})->self_ns, 20);
  EXPECT_EQ(frame_at(tree, *run, {"layer", "mm"})->total_ns, 10);
  EXPECT_EQ(frame_at(tree, *run, {"layer", "relu"}), nullptr);
}

TEST(FlameTree, SelfTimesAddUpToTheTimeOfTheRank) {
  const auto run = testing::run_with_slow_rank();
  const TimeRange range{run->extent().begin + nanoseconds{20'000'123}, run->extent().begin + nanoseconds{99'000'001}};
  const FlameTree tree = tree_of(*run, range);
  std::int64_t own = 0;
  for (const FlameFrame& frame : tree.frames) own += frame.self_ns;
  std::int64_t busy = 0;
  for (const Span& span : run->spans())
    if (span.depth == 0 && run->lane(span.lane).rank == RankId{0} && run->lane(span.lane).kind == LaneKind::thread)
      busy += intersect(span.time, range).length().count();
  EXPECT_EQ(own, busy);
  EXPECT_EQ(tree.frame(0).total_ns, busy);
}

TEST(FlameTree, StepsAreOneFrameWhateverTheirNumbers) {
  const auto run = *run_from_text(
      "0 step 0 100 ProfilerStep#1 index=1\n0 op 10 30 mm\n0 step 100 200 ProfilerStep#2 index=2\n0 op 110 130 mm\n");
  const FlameTree tree = tree_of(*run, run->extent());
  EXPECT_EQ(frame_at(tree, *run, {"ProfilerStep#1", "mm"})->count, 2);
}

TEST(FlameTree, HoldsOnlyTheLanesAskedFor) {
  const auto run = *run_from_text(
      "0 op 0 10 mm\n0 compute 0 20 gemm\n1 op 0 90 other\n"
      "@lane 0 profiler kind=thread number=9\n0 user 0 90 \"PyTorch Profiler (0)\" lane=profiler\n");
  EXPECT_EQ(tree_of(*run, run->extent()).frame(0).total_ns, 10) << "only threads that did something";
  const LaneId stream = run->span(testing::nth_span(*run, RankId{0}, SpanKind::compute)).lane;
  EXPECT_EQ(tree_of(*run, run->extent(), {stream}).frame(0).total_ns, 20);
}

TEST(FlameTree, FindsTheFrameOfAnEvent) {
  const auto run = *run_from_text("0 forward 0 100 layer\n0 op 10 30 mm\n0 op 12 15 view\n0 op 40 70 view\n");
  const FlameTree tree = tree_of(*run, run->extent());
  const auto frame = tree.frame_of(*run, testing::nth_span(*run, RankId{0}, SpanKind::op, 1));
  ASSERT_TRUE(frame);
  EXPECT_EQ(&tree.frame(*frame), frame_at(tree, *run, {"layer", "mm", "view"}));
}

TEST(FlameBoxes, AreAsWideAsTheirShareAndStandBelowWhatEnclosesThem) {
  const auto run = *run_from_text("0 forward 0 100 layer\n0 op 0 25 mm\n0 op 50 75 relu\n");
  const FlameTree tree = tree_of(*run, run->extent());
  const auto boxes = flame_boxes(tree, 0, 400);
  ASSERT_EQ(boxes.size(), 5U);  // rank, lane, layer, and two in it
  EXPECT_EQ(boxes[2].width, 400);
  EXPECT_EQ(boxes[3].row, 3);
  EXPECT_EQ(boxes[3].width, 100);
  EXPECT_EQ(boxes[4].left, 100);
  const auto zoomed = flame_boxes(tree, boxes[3].frame, 400);
  ASSERT_EQ(zoomed.size(), 4U);
  EXPECT_EQ(zoomed.back().width, 400);
}

TEST(FlameBoxes, SumUpWhatIsTooNarrow) {
  std::string text = "0 forward 0 100000 layer\n";
  for (std::size_t i = 0; i < 100; ++i)
    text += format("0 op {} {} op{}\n", i * 100, i * 100 + 50, std::string(1 + i, 'x'));
  const auto run = *run_from_text(text);
  const auto boxes = flame_boxes(tree_of(*run, run->extent()), 0, 400);
  ASSERT_EQ(boxes.size(), 4U);
  EXPECT_EQ(boxes.back().more, 100U);
  EXPECT_NEAR(boxes.back().width, 20, 0.01);
}

struct ShownTree {
  Session session;
  FlameModel model{session};
  QAbstractItemModelTester tester{&model, fatal};

  explicit ShownTree(std::shared_ptr<const Run> run) {
    model.set_active(true);
    EXPECT_TRUE(testing::shows(session, std::move(run)));
    EXPECT_TRUE(settled());
  }
  [[nodiscard]] bool settled() const {
    return testing::comes_true([this] { return !model.busy() && model.tree() != nullptr; });
  }
};

TEST(FlameModel, FollowsTheRangeTheAreaAndTheRankOfTheSelection) {
  ShownTree shown{testing::run_with_slow_rank()};
  EXPECT_EQ(shown.model.tree()->question.range, shown.session.extent());
  shown.session.set_visible({shown.session.extent().begin, shown.session.extent().begin + nanoseconds{10'000'000}});
  ASSERT_TRUE(shown.settled());
  EXPECT_EQ(shown.model.tree()->question.range.length(), nanoseconds{10'000'000});
  shown.session.select(testing::nth_span(*shown.session.run(), RankId{2}, SpanKind::op));
  ASSERT_TRUE(shown.settled());
  EXPECT_EQ(shown.model.tree()->question.rank, RankId{2});
  EXPECT_EQ(shown.model.rank_row(), 2);
  const LaneId lane = shown.session.run()->span(*shown.session.selection()).lane;
  shown.session.select_area(Area{shown.session.extent(), {lane}});
  ASSERT_TRUE(shown.settled());
  EXPECT_EQ(shown.model.tree()->question.lanes, std::vector{lane});
  EXPECT_TRUE(shown.model.caption().startsWith(QStringLiteral("Selected range")))
      << shown.model.caption().toStdString();
}

TEST(FlameModel, KeepsItsZoomInAnotherRange) {
  ShownTree shown{*run_from_text("0 forward 0 1000 layer\n0 op 10 300 mm\n0 op 500 900 mm\n0 op 910 950 relu\n")};
  const auto mm = *shown.model.tree()->frame_of(*shown.session.run(), SpanId{1});
  shown.model.zoom_to(mm);
  shown.session.set_visible({at(400), at(960)});
  ASSERT_TRUE(shown.settled());
  EXPECT_EQ(shown.model.label(shown.model.top()), QStringLiteral("mm"));
  shown.model.zoom_out();
  EXPECT_EQ(shown.model.label(shown.model.top()), QStringLiteral("layer"));
  shown.model.reset();
  EXPECT_EQ(shown.model.top(), 0U);
}

TEST(FlameModel, IsATreeOfTheSameNumbers) {
  ShownTree shown{*run_from_text("0 forward 0 1000 layer\n0 op 10 300 mm\n0 op 500 900 mm\n")};
  const QModelIndex rank = shown.model.index(0, 0);
  EXPECT_EQ(rank.data().toString(), QStringLiteral("rank 0"));
  const QModelIndex layer = shown.model.index(0, 0, shown.model.index(0, 0, rank));
  const QModelIndex mm = shown.model.index(0, FlameModel::calls, layer);
  EXPECT_EQ(mm.data().toString(), QStringLiteral("2"));
  EXPECT_EQ(mm.siblingAtColumn(FlameModel::total).data(Qt::UserRole).toLongLong(), 690);
  EXPECT_EQ(layer.siblingAtColumn(FlameModel::own).data().toString(), QStringLiteral("310 ns"));
}

TEST(FlameModel, LeadsToTheLongestCallAndLightsTheNameInTheTimeline) {
  ShownTree shown{*run_from_text("0 op 10 300 mm\n0 op 500 900 mm\n")};
  const auto mm = *shown.model.tree()->frame_of(*shown.session.run(), SpanId{0});
  shown.model.go_to_longest(mm);
  EXPECT_EQ(shown.session.selection(), SpanId{1});
  EXPECT_EQ(shown.model.selected_frame(), mm);
  shown.model.search_in_timeline(mm);
  EXPECT_EQ(shown.session.filter().text, "mm");
}

TEST(FlameModel, SaysWhyThereIsNothing) {
  Session session;
  FlameModel model{session};
  EXPECT_TRUE(model.why_empty().startsWith(QStringLiteral("Open a recording")));
  model.set_active(true);
  ASSERT_TRUE(testing::shows(session, *run_from_text("0 compute 0 20 gemm\n")));
  ASSERT_TRUE(testing::comes_true([&] { return model.tree() != nullptr; }));
  EXPECT_EQ(model.why_empty(), QStringLiteral("rank 0 ran nothing in this range."));
  session.show(*run_from_text("@process - pid=7\n- op 0 20 mm\n"));
  EXPECT_EQ(model.why_empty(), QStringLiteral("No process in this recording has a rank."));
}

}  // namespace
}  // namespace rankscope::gui
