#include "steps/time_cells.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "steps/window_time.h"

namespace rankscope::analyzer {
namespace {

StepWindow window(std::int64_t index, std::int64_t begin, std::int64_t end) {
  return {RankId{0}, index, {at(begin), at(end)}, true};
}

TEST(TimeCells, BeginAndEndWhereStepsAndTheRecordingDo) {
  const std::vector<StepWindow> windows{window(0, 10, 20), window(1, 20, 35), window(5, 50, 60)};
  const TimeCells cells{{at(0), at(100)}, windows};
  EXPECT_EQ(cells.count(), 8U);
  EXPECT_EQ(cells.bounded(), 6U);
  EXPECT_EQ(cells.range(0), (TimeRange{RunTime::min(), at(0)}));
  EXPECT_EQ(cells.range(2), (TimeRange{at(10), at(20)}));
  EXPECT_EQ(cells.range(4), (TimeRange{at(35), at(50)}));
  EXPECT_EQ(cells.range(7), (TimeRange{at(100), RunTime::max()}));
  EXPECT_EQ(cells.at(at(-1)), 0U);
  EXPECT_EQ(cells.at(at(19)), 2U);
  EXPECT_EQ(cells.at(at(20)), 3U);
  EXPECT_EQ(cells.at(at(100)), 7U);
  EXPECT_EQ(cells.of({at(20), at(35)}), (std::pair<std::size_t, std::size_t>{3, 4}));
}

TEST(TimeCells, AreNotCutAtThinnedSteps) {
  std::vector<StepWindow> windows{window(0, 10, 20), window(1, 20, 35), window(2, 35, 60)};
  windows[0].thinned = windows[1].thinned = true;
  const TimeCells cells{{at(0), at(100)}, windows};
  EXPECT_EQ(cells.bounded(), 3U);
  EXPECT_EQ(cells.of(windows[2].window), (std::pair<std::size_t, std::size_t>{2, 3}));
}

TEST(TimeCells, OfOverlappingStepsAreTheirPieces) {
  const std::vector<StepWindow> windows{window(0, 10, 40), window(5, 30, 60)};
  const TimeCells cells{{at(10), at(60)}, windows};
  EXPECT_EQ(cells.bounded(), 3U);
  EXPECT_EQ(cells.of(windows[0].window), (std::pair<std::size_t, std::size_t>{1, 3}));
  EXPECT_EQ(cells.of(windows[1].window), (std::pair<std::size_t, std::size_t>{2, 4}));
}

TEST(TimeCells, OfCountedStepsAreThoseInsideThem) {
  const std::vector<StepWindow> windows{window(0, 10, 20), window(1, 20, 35)};
  const CountedRank rank{RankId{0}, TimeCells{{at(0), at(100)}, windows}, {{windows[1].window}, 1}};
  const CountedCells cells = counted_cells(rank);
  EXPECT_EQ(cells.begins, (std::vector<bool>{false, false, false, true, false, false}));
  EXPECT_EQ(cells.time, cells.begins);
}

TEST(TimeCells, OfAWholeRecordingCountWhateverBeginsAndTheTimeInsideIt) {
  const CountedRank rank{RankId{0}, TimeCells{{at(0), at(100)}, {}}, {{{at(0), at(100)}}, 0}};
  const CountedCells cells = counted_cells(rank);
  EXPECT_EQ(cells.begins, (std::vector<bool>{true, true, true}));
  EXPECT_EQ(cells.time, (std::vector<bool>{false, true, false}));
}

TEST(TimeCells, OfOverlappingStepsLieInSeveral) {
  const std::vector<StepWindow> windows{window(0, 10, 40), window(5, 30, 60)};
  const CountedRank rank{RankId{0}, TimeCells{{at(0), at(100)}, windows}, {{windows[0].window, windows[1].window}, 2}};
  EXPECT_EQ(windows_of_cells(rank), (std::vector<std::int64_t>{0, 0, 1, 2, 1, 0, 0}));
}

TEST(WindowTime, OfOverlappingStepsIsCountedOnce) {
  const WindowTime time{CountedWindows{.ranges = {{at(0), at(100)}, {at(50), at(60)}}, .steps = 2}};
  EXPECT_EQ(time.length_ns({at(0), at(200)}), 100);
  EXPECT_EQ(time.length_ns({at(40), at(70)}), 30);
  EXPECT_TRUE(time.counts(at(70))) << "behind the second step, inside the first one";
}

TEST(TimeCells, OfADigestAreCountedByTheIndicesOfSteps) {
  StepsPart part{.rank = RankId{0}, .recorded = {at(0), at(100)}, .windows = {window(0, 10, 20), window(1, 20, 35)}};
  StepsSection steps;
  steps.steps = {{.index = 1, .time = {}, .wall_ns = 15, .complete = true, .warm_up = false}};
  steps.windows = {window(1, 1'020, 1'035)};  // moved by clocks
  const CountedRank rank = counted_rank(part, steps);
  EXPECT_EQ(rank.windows.steps, 1);
  EXPECT_EQ(rank.windows.ranges, (std::vector<TimeRange>{{at(20), at(35)}}));
}

}  // namespace
}  // namespace rankscope::analyzer
