// Choosing fixes, and what a step would take with them.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/report/what_if_model.h"

namespace rankscope::gui {
namespace {

TEST(WhatIfModel, OffersTheSlowRankFirstAndPredictsAShorterStepWithoutIt) {
  Session session;
  WhatIfModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  EXPECT_EQ(model.rowCount(), 0);
  session.show(testing::run_with_slow_rank());
  ASSERT_TRUE(testing::becomes_ready(session));
  const QModelIndex first = model.index(0, WhatIfModel::fix);
  ASSERT_EQ(first.data().toString(), QStringLiteral("rank:2"));
  EXPECT_TRUE(model.index(0, WhatIfModel::meaning).data().toString().startsWith(QStringLiteral("rank 2 takes")));
  model.setData(first, Qt::Checked, Qt::CheckStateRole);
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy(); }));
  EXPECT_TRUE(model.summary().contains(QStringLiteral(" % less"))) << model.summary().toStdString();
  const auto expected = *analyzer::what_if(*session.recorded(), {}, std::vector<std::string>{"rank:2"});
  EXPECT_GT(expected.unchanged.mean_ns, expected.together.mean_ns);
  EXPECT_FALSE(model.index(0, WhatIfModel::gain).data().toString().isEmpty());
  EXPECT_TRUE(model.doubts().startsWith(QStringLiteral("Without a fix, the replay differs from the recording by ")));
  model.setData(first, Qt::Unchecked, Qt::CheckStateRole);
  EXPECT_TRUE(model.index(0, WhatIfModel::gain).data().toString().isEmpty());
}

TEST(WhatIfModel, TakesFixesInTheWordsOfTheCommandLineAndRefusesOthers) {
  Session session;
  WhatIfModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  session.show(testing::run_with_slow_rank());
  ASSERT_TRUE(testing::becomes_ready(session));
  const int offered = model.rowCount();
  const QSignalSpy refused{&model, &WhatIfModel::refused};
  model.setData(model.index(0, WhatIfModel::fix), Qt::Checked, Qt::CheckStateRole);
  model.add(QStringLiteral("no such thing"));
  ASSERT_TRUE(testing::comes_true([&] { return refused.count() == 1 && !model.busy(); }));
  EXPECT_EQ(model.rowCount(), offered) << "taken back";
  EXPECT_TRUE(refused.front().front().toString().contains(QStringLiteral("no such fix")));
  EXPECT_TRUE(model.summary().contains(QStringLiteral("would take"))) << "of what else was chosen";
  model.add(QStringLiteral("op:aten::gelu*0.5"));
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy(); }));
  EXPECT_EQ(model.rowCount(), offered + 1);
  EXPECT_TRUE(model.summary().contains(QStringLiteral("would take"))) << model.summary().toStdString();
}

TEST(WhatIfModel, SaysWhyNothingCanBePredicted) {
  Session session;
  WhatIfModel model{session};
  session.show(*run_from_text("0 python 0 10 frame\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_EQ(model.summary().toStdString(), session.report()->what_if.error().why);
}

}  // namespace
}  // namespace rankscope::gui
