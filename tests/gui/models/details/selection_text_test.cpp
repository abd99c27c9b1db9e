// What is selected, as text.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "gui/runs.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/details/selection_text.h"

namespace rankscope::gui {
namespace {

struct Asked {
  Session session;
  SelectionText text{session};
  QSignalSpy made{&text, &SelectionText::made};

  [[nodiscard]] QString told() const { return made.isEmpty() ? QString{} : made.back().front().toString(); }
};

TEST(SelectionText, TellsAnEventInALineForTablesAndInWords) {
  Asked asked;
  asked.session.show(*run_from_text("2 compute 100 350 gemm\n2 compute 400 450 relu\n"));
  asked.session.select(SpanId{0});
  asked.text.ask();
  ASSERT_EQ(asked.made.count(), 1);
  EXPECT_TRUE(asked.told().startsWith(QStringLiteral("gemm\trank 2\tstream 0\t100 ns\t250 ns\n")))
      << asked.told().toStdString();
  EXPECT_TRUE(asked.told().contains(QStringLiteral("Duration: 250 ns\n")));
}

TEST(SelectionText, TellsOfAStretchOfTimeWhatTookItByRankAndByName) {
  Asked asked;
  ASSERT_TRUE(testing::shows(asked.session, testing::run_with_slow_rank()));
  const auto& run = *asked.session.run();
  const SpanId backward = testing::nth_span(run, RankId{0}, SpanKind::backward);
  asked.session.select_area(Area{asked.session.extent(), {run.span(backward).lane}});
  asked.text.ask();
  ASSERT_TRUE(testing::comes_true([&] { return asked.made.count() == 1; }));
  EXPECT_TRUE(asked.told().startsWith(QStringLiteral("Selected range: "))) << asked.told().toStdString();
  EXPECT_TRUE(asked.told().contains(QStringLiteral("\nRank\tCompute\t")));
  EXPECT_TRUE(asked.told().contains(QStringLiteral("\nrank 0\t")));
  EXPECT_TRUE(asked.told().contains(QStringLiteral("\nName\tKind\t"))) << asked.told().toStdString();
  EXPECT_TRUE(asked.told().contains(QStringLiteral("\nbackward\t")));
}

TEST(SelectionText, ToldOnceForEachQuestion) {
  Asked asked;
  ASSERT_TRUE(testing::shows(asked.session, testing::run_with_slow_rank()));
  const LaneId lane = asked.session.run()->span(SpanId{0}).lane;
  asked.session.select_area(Area{asked.session.extent(), {lane}});
  asked.text.ask();
  ASSERT_TRUE(testing::comes_true([&] { return asked.made.count() == 1; }));
  asked.session.select_area(Area{{at(0), at(1'000'000)}, {lane}});
  asked.session.set_visible({at(0), at(1'000'000)});
  EXPECT_FALSE(QTest::qWaitFor([&] { return asked.made.count() > 1; }, 100));
  asked.text.ask();
  ASSERT_TRUE(testing::comes_true([&] { return asked.made.count() == 2; }));
  EXPECT_TRUE(asked.told().contains(QStringLiteral("1.000 ms starting at"))) << asked.told().toStdString();
}

TEST(SelectionText, TellsNothingWhereNothingIsSelected) {
  Asked asked;
  asked.text.ask();
  asked.session.show(*run_from_text("0 compute 0 10 gemm\n"));
  asked.text.ask();
  EXPECT_EQ(asked.made.count(), 0);
}

}  // namespace
}  // namespace rankscope::gui
