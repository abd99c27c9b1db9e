// One lateness of each rank and step, wherever it is shown.
#include <gtest/gtest.h>

#include <array>

#include "gui/runs.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/report/lateness.h"
#include "rankscope/gui/models/report/step_map_model.h"

namespace rankscope::gui {
namespace {

/// Of two ranks; in a step of 200 ms they work 90 and 190 ms, and one step is twice as long.
std::string late_one_of_two() {
  std::string text = "@run world_size=2 clock=same_host clock_error=1\n@group dp 0,1\n";
  constexpr std::array lengths{200, 400, 200};
  int begin = 0;
  for (std::size_t step = 0; step < lengths.size(); ++step) {
    const int end = begin + lengths[step];
    const int meet = end - 10;
    const int early = begin + lengths[step] / 2 - 10;
    for (const auto& [rank, comm] : {std::pair{0, early}, {1, meet}}) {
      text += format("{} step {}000000 {}000000 step index={}\n", rank, begin, end, step);
      text += format("{} compute {}000000 {}000000 gemm\n", rank, begin, comm);
      text += format("{} comm {}000000 {}000000 allreduce group=dp seq={}\n", rank, comm, end, step);
    }
    begin = end;
  }
  return text;
}

TEST(Lateness, OfTwoRanksIsTheDistanceFromTheMiddleBetweenThem) {
  Session session;
  ASSERT_TRUE(testing::shows(session, *run_from_text(late_one_of_two())));
  const Lateness lateness = lateness_of(*session.report());
  ASSERT_EQ(lateness.ranks.size(), 2U);
  ASSERT_EQ(lateness.steps.size(), 3U);
  EXPECT_EQ(lateness.cell(0, 0)->own_ns, 90'000'000);
  EXPECT_EQ(lateness.cell(1, 0)->own_ns, 190'000'000);
  EXPECT_EQ(lateness.cell(0, 0)->lag_ns, -50'000'000);
  EXPECT_EQ(lateness.cell(1, 0)->lag_ns, 50'000'000);
  EXPECT_FLOAT_EQ(*lateness.share_of(0, 0), -0.25F);
  EXPECT_FLOAT_EQ(*lateness.share_of(1, 1), 0.5F) << "of the median step, also in a long one";
  EXPECT_FLOAT_EQ(*lateness.mean_share(RankId{1}), (0.25F + 0.5F + 0.25F) / 3);
}

TEST(Lateness, IsTheSameInTheStripAndInTheMapOfSteps) {
  Session session;
  const StepMapModel map{session};
  ASSERT_TRUE(testing::shows(session, *run_from_text(late_one_of_two())));
  const Lateness lateness = lateness_of(*session.report());
  ASSERT_EQ(map.rowCount(), 2);
  ASSERT_EQ(map.columnCount(), 3);
  for (int rank = 0; rank < 2; ++rank)
    for (int step = 0; step < 3; ++step)
      EXPECT_FLOAT_EQ(*lateness.share_of(static_cast<std::size_t>(rank), static_cast<std::size_t>(step)),
                      map.index(rank, step).data(StepMapModel::share_role).toFloat());
  EXPECT_DOUBLE_EQ(map.index(1, 0).data(StepMapModel::share_role).toDouble(), 0.25);
}

TEST(Lateness, ARankWithoutStepsHasARowWithoutCells) {
  Session session;
  const StepMapModel map{session};
  ASSERT_TRUE(testing::shows(session, *run_from_text(late_one_of_two() + "2 compute 0 800000000 gemm\n")));
  const Lateness lateness = lateness_of(*session.report());
  ASSERT_EQ(lateness.ranks.size(), 3U);
  EXPECT_FALSE(lateness.share_of(2, 0));
  EXPECT_FALSE(lateness.mean_share(RankId{2}));
  EXPECT_EQ(lateness.cell(1, 0)->lag_ns, 50'000'000);
  EXPECT_FALSE(map.index(2, 0).data(Qt::DisplayRole).isValid());
}

TEST(Lateness, OfOneRankIsNotCompared) {
  Session session;
  ASSERT_TRUE(testing::shows(session, *run_from_text("0 step 0 100 step index=0\n0 compute 0 90 gemm\n"
                                                     "0 step 100 200 step index=1\n0 compute 100 190 gemm\n")));
  const Lateness lateness = lateness_of(*session.report());
  EXPECT_TRUE(lateness.empty());
  EXPECT_FALSE(lateness.mean_share(RankId{0}));
}

}  // namespace
}  // namespace rankscope::gui
