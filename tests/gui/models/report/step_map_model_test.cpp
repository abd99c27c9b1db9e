// Which rank was late in which step.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/report/step_map_model.h"

namespace rankscope::gui {
namespace {

TEST(StepMapModel, TheRowOfTheSlowRankIsLateInEachStepAndTheOthersAreNot) {
  Session session;
  StepMapModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  ASSERT_EQ(model.rowCount(), 4);
  ASSERT_GE(model.columnCount(), 6);
  for (int column = 0; column < model.columnCount(); ++column) {
    EXPECT_GT(model.index(2, column).data(StepMapModel::share_role).toDouble(), 0.2);
    EXPECT_GE(model.index(2, column).data(StepMapModel::shade_role).toInt(), 6);
    EXPECT_LT(model.index(1, column).data(StepMapModel::share_role).toDouble(), 0.05);
  }
  EXPECT_EQ(model.worst().row(), 2);
}

TEST(StepMapModel, StepTimesAreAlikeOnAllRanksThatWaitForEachOther) {
  Session session;
  StepMapModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  model.set_measure(StepMapModel::Measure::step_time);
  EXPECT_LT(std::abs(model.index(2, 3).data(StepMapModel::share_role).toDouble()), 0.1);
  EXPECT_TRUE(model.index(2, 3).data(Qt::ToolTipRole).toString().contains(QStringLiteral("the median step")));
}

TEST(StepMapModel, GoesToTheStepOnTheRank) {
  Session session;
  StepMapModel model{session};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const QSignalSpy revealed{&session, &Session::revealRequested};
  model.go_to(model.index(2, 3));
  ASSERT_EQ(revealed.count(), 1);
  EXPECT_EQ(revealed.front().front().value<RankId>(), RankId{2});
  EXPECT_TRUE(model.index(2, 3).data(StepMapModel::visible_role).toBool());
  EXPECT_FALSE(model.index(2, 5).data(StepMapModel::visible_role).toBool());
}

TEST(StepMapModel, SaysWhyThereIsNoMap) {
  Session session;
  StepMapModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  EXPECT_TRUE(model.why_empty().contains(QStringLiteral("Open a recording")));
  ASSERT_TRUE(testing::shows(session, *run_from_text("0 compute 0 100 gemm\n")));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_TRUE(model.why_empty().contains(QStringLiteral("Mark each step"))) << model.why_empty().toStdString();
}

TEST(Shades, BeginWhereTheirWordsSay) {
  EXPECT_EQ(shade_of(-0.3), 0);
  EXPECT_EQ(shade_of(0), 3);
  EXPECT_EQ(shade_of(0.0099), 3);
  EXPECT_EQ(shade_of(0.01), 4);
  EXPECT_EQ(shade_of(0.2), 6);
  EXPECT_EQ(shade_of(7), 7);
}

}  // namespace
}  // namespace rankscope::gui
