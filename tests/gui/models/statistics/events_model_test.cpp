// The timeline as a table.
#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/statistics/events_model.h"

namespace rankscope::gui {
namespace {

TEST(EventsModel, ListsWhatOfTheLaneTouchesTheVisibleRange) {
  Session session;
  EventsModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  model.set_active(true);
  session.show(*run_from_text("0 forward 0 1000 layer\n0 op 10 30 mm\n0 op 600 700 relu\n1 op 0 1000 other\n"));
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 3; }));
  session.set_visible({at(100), at(650)});
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 2; }));
  EXPECT_EQ(model.index(0, EventsModel::name).data().toString(), QStringLiteral("layer"));
  EXPECT_EQ(model.index(1, EventsModel::depth).data().toString(), QStringLiteral("1"));
  EXPECT_EQ(model.caption(), QStringLiteral("2 events of rank 0 / main in the visible 550 ns"));
}

TEST(EventsModel, FollowsTheSelectionToItsLane) {
  Session session;
  EventsModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  model.set_active(true);
  session.show(*run_from_text("0 op 0 1000 a\n1 op 0 400 b\n1 op 500 1000 c\n"));
  ASSERT_EQ(model.lanes().size(), 2U);
  EXPECT_EQ(model.lanes()[1].path, QStringLiteral("rank 1 / main"));
  session.select(SpanId{2});
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 2; }));
  EXPECT_EQ(model.selected_row(), 1);
  model.go_to(0);
  EXPECT_EQ(session.selection(), SpanId{1});
  session.show(*run_from_text("0 op 0 1000 a\n"));
  EXPECT_EQ(model.lane(), LaneId{0}) << "lanes of another run are other lanes";
}

TEST(EventsModel, ListsStreamsByTheirNumbers) {
  Session session;
  EventsModel model{session};
  session.show(
      *run_from_text("@rank 0\n@lane 0 s10 kind=stream number=10 device=0\n@lane 0 s2 kind=stream number=2 device=0\n"
                     "0 compute 0 10 gemm lane=s10\n0 compute 0 10 gemm lane=s2\n"));
  ASSERT_EQ(model.lanes().size(), 2U);
  EXPECT_EQ(model.lanes()[0].path, QStringLiteral("rank 0 / s2"));
  EXPECT_EQ(model.lanes()[1].path, QStringLiteral("rank 0 / s10"));
}

TEST(EventsModel, TellsNeighbouringEventsOfALongRunApart) {
  Session session;
  EventsModel model{session};
  model.set_active(true);
  session.show(*run_from_text("0 op 0 100 a\n0 op 2000000100 2000000200 b\n0 op 2000000300 2000000400 c\n"));
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 3; }));
  EXPECT_EQ(model.index(1, EventsModel::start).data().toString(), QStringLiteral("2.000000100 s"));
  EXPECT_EQ(model.index(2, EventsModel::start).data().toString(), QStringLiteral("2.000000300 s"));
}

TEST(EventsModel, LetsGoOfARunThatIsNoLongerShown) {
  Session session;
  EventsModel model{session};
  model.set_active(true);
  auto run = *run_from_text("0 op 0 1000 a\n");
  const std::weak_ptr<const rankscope::Run> old = run;
  session.show(std::move(run));
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_TRUE(testing::comes_true([&] { return model.rowCount() == 1; }));
  model.set_active(false);
  session.show(*run_from_text("0 op 0 1000 b\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_TRUE(testing::comes_true([&] { return old.expired(); }));
}

}  // namespace
}  // namespace rankscope::gui
