// What took the time of a range, to the nanosecond.
#include <gtest/gtest.h>

#include <numeric>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/analyzer/blame/closer_look.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"
#include "rankscope/gui/models/statistics/range_statistics.h"
#include "rankscope/gui/models/statistics/statistics_model.h"
#include "rankscope/gui/models/timeline/navigator.h"

namespace rankscope::gui {
namespace {

RangeSource source_of(const std::shared_ptr<const Run>& run) {
  return {run, std::make_shared<const LaneBlocks>(*run), analyzer::CloserLook::at(*run, [] { return false; })};
}

NameTimes times_of(const RangeAnswer& answer, const Run& run, std::string_view name) {
  for (const NameTimes& row : answer.names)
    if (run.text(row.name) == name) return row;
  return {};
}

TEST(RangeStatistics, SelfTimesLeaveOutWhatIsNestedAndAreCutAtTheRange) {
  const auto run = *run_from_text("0 forward 0 100 layer\n0 op 10 30 mm\n0 op 12 15 inner\n0 op 40 60 relu\n");
  const auto found = *answer(source_of(run), {{at(20), at(50)}}, {});
  EXPECT_EQ(times_of(found, *run, "layer").total_ns, 30);
  EXPECT_EQ(times_of(found, *run, "layer").self_ns, 10);
  EXPECT_EQ(times_of(found, *run, "mm").self_ns, 10);
  EXPECT_EQ(times_of(found, *run, "relu").self_ns, 10);
  EXPECT_EQ(times_of(found, *run, "inner").count, 0);
}

TEST(RangeStatistics, WhatOverlapsInsideACallIsTakenFromItsSelfTimeOnce) {
  const auto run = *run_from_text("0 op 0 10 P\n0 op 0 8 A\n0 op 5 9 B\n");
  const auto all = *answer(source_of(run), {{at(0), at(10)}}, {});
  EXPECT_EQ(times_of(all, *run, "P").self_ns, 1);
  EXPECT_EQ(times_of(all, *run, "A").self_ns, 8);
  EXPECT_EQ(times_of(all, *run, "B").self_ns, 4);
  const auto part = *answer(source_of(run), {{at(6), at(10)}}, {});
  EXPECT_EQ(times_of(part, *run, "P").self_ns, 1);
  EXPECT_EQ(times_of(part, *run, "A").self_ns, 2);
}

TEST(RangeStatistics, ACallInsideACallOfTheSameNameIsNotCountedTwiceInTheTotal) {
  const auto run = *run_from_text("0 op 0 100 f\n0 op 10 40 g\n0 op 20 30 f\n");
  const auto found = *answer(source_of(run), {{at(0), at(100)}}, {});
  EXPECT_EQ(times_of(found, *run, "f").total_ns, 100);
  EXPECT_EQ(times_of(found, *run, "f").self_ns, 80);
  EXPECT_EQ(times_of(found, *run, "f").count, 2);
}

TEST(RangeStatistics, SelfTimesAddUpToTheTimeInWhichLanesAreBusy) {
  const auto run = testing::run_with_slow_rank();
  const TimeRange range{run->extent().begin + nanoseconds{20'000'123}, run->extent().begin + nanoseconds{99'000'001}};
  const auto found = *answer(source_of(run), {range}, {});
  std::int64_t own = 0;
  for (const NameTimes& row : found.names) own += row.self_ns;
  std::int64_t busy = 0;
  for (const Span& span : run->spans())
    if (span.depth == 0) busy += intersect(span.time, range).length().count();
  EXPECT_EQ(own, busy);
}

TEST(RangeStatistics, PartsOfARankAddUpToTheRangeAndTheRestIsIdle) {
  const auto run = testing::run_with_slow_rank();
  const TimeRange range{run->extent().begin + nanoseconds{20'000'123}, run->extent().begin + nanoseconds{99'000'001}};
  const auto found = *answer(source_of(run), {range}, {});
  ASSERT_EQ(found.ranks.size(), 4U);
  for (const RankTimes& row : found.ranks) {
    const analyzer::TimeSplit& split = row.split;
    EXPECT_EQ(split.compute_ns + split.exposed_comm_ns + split.memory_ns + split.idle_ns, range.length().count());
  }
}

TEST(RangeStatistics, HoldsOnlyTheRanksAndLanesAskedFor) {
  const auto run = *run_from_text("0 compute 0 10 a\n1 compute 0 10 b\n1 comm 0 10 c\n");
  const auto of_rank = *answer(source_of(run), {{at(0), at(10)}, {RankId{1}}}, {});
  EXPECT_EQ(of_rank.names.size(), 2U);
  EXPECT_EQ(of_rank.ranks.size(), 1U);
  const LaneId lane = run->span(SpanId{0}).lane;
  const auto of_lane = *answer(source_of(run), {{at(0), at(10)}, {RankId{0}}, {lane}}, {});
  ASSERT_EQ(of_lane.names.size(), 1U);
  EXPECT_EQ(run->text(of_lane.names.front().name), "a");
}

TEST(RangeStatistics, OfLanesWithoutARankHasNoRanks) {
  const auto run = *run_from_text("0 compute 0 10 a\n@process - pid=7\n- op 0 10 helper\n");
  const LaneId lane = run->lanes().back().rank.is_set() ? LaneId{0} : run->id_of(run->lanes().back());
  const auto found = *answer(source_of(run), {{at(0), at(10)}, {}, {lane}}, {});
  EXPECT_TRUE(found.ranks.empty()) << "rank 0 has nothing to do with it";
  ASSERT_EQ(found.names.size(), 1U);
  EXPECT_EQ(run->text(found.names.front().name), "helper");
}

TEST(LaneBlocks, FindALongSpanThatReachesIntoTheRange) {
  std::string text = "0 op 0 100000 long\n";
  for (int i = 0; i < 2000; ++i)
    text += "0 op " + std::to_string(10 + i * 10) + " " + std::to_string(15 + i * 10) + " x\n";
  const auto run = *run_from_text(text);
  const auto found = *answer(source_of(run), {{at(50'000), at(50'100)}}, {});
  ASSERT_EQ(found.names.size(), 1U);
  EXPECT_EQ(found.names.front().self_ns, 100);
}

TEST(Statistics, FollowTheVisibleRangeAndTheAreaWhileTheyAreSeen) {
  Session session;
  Statistics statistics{session};
  RankTimesModel ranks{statistics};
  NameTimesModel names{statistics};
  const QAbstractItemModelTester rank_tester{&ranks, fatal};
  const QAbstractItemModelTester name_tester{&names, fatal};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  EXPECT_FALSE(statistics.answer()) << "nobody sees it";
  statistics.set_active(true);
  const auto settled = [&] { return !statistics.busy() && statistics.answer(); };
  ASSERT_TRUE(testing::comes_true(settled));
  EXPECT_EQ(statistics.answer()->question.range, session.extent());
  EXPECT_EQ(ranks.rowCount(), 4);
  EXPECT_GT(names.rowCount(), 3);
  session.set_visible({session.extent().begin, session.extent().begin + nanoseconds{10'000'000}});
  ASSERT_TRUE(testing::comes_true(settled));
  EXPECT_EQ(statistics.answer()->question.range.length(), nanoseconds{10'000'000});
  const LaneId lane = session.run()->span(testing::nth_span(*session.run(), RankId{2}, SpanKind::comm)).lane;
  session.select_area(Area{session.extent(), {lane}});
  ASSERT_TRUE(testing::comes_true(settled));
  EXPECT_EQ(ranks.rowCount(), 1);
  EXPECT_TRUE(statistics.caption().startsWith(QStringLiteral("Selected range"))) << statistics.caption().toStdString();
  EXPECT_TRUE(statistics.caption().endsWith(QStringLiteral("1 rank, 1 lane"))) << statistics.caption().toStdString();
}

TEST(Statistics, OfAllThatIsSelectedAreOfTheChosenRanks) {
  Session session;
  TimelineModel model{session};
  Navigator navigator{session, model};
  Statistics statistics{session};
  statistics.set_active(true);
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  session.set_filter({.ranks = {RankId{1}, RankId{3}}});
  navigator.select_all();
  ASSERT_TRUE(testing::comes_true([&] { return !statistics.busy() && statistics.answer(); }));
  EXPECT_EQ(statistics.answer()->question.ranks, (std::vector{RankId{1}, RankId{3}}));
  EXPECT_TRUE(statistics.caption().contains(QStringLiteral(", 2 ranks"))) << statistics.caption().toStdString();
}

TEST(Statistics, OnlyTheLastOfManyRangesIsShown) {
  Session session;
  Statistics statistics{session};
  statistics.set_active(true);
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const RunTime begin = session.extent().begin;
  for (int i = 1; i <= 50; ++i) session.set_visible({begin, begin + nanoseconds{i * 1'000'000}});
  ASSERT_TRUE(testing::comes_true([&] { return !statistics.busy(); }));
  EXPECT_EQ(statistics.answer()->question.range.length(), nanoseconds{50'000'000});
}

}  // namespace
}  // namespace rankscope::gui
