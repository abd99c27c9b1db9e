// What the viewer shows, without a window.
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QSignalSpy>

#include "gui/waiting.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {
namespace {

const Source demo{.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}};

std::shared_ptr<const Run> small_run() {
  return *run_from_text(
      "0 compute 0 100 gemm\n"
      "1 compute 0 400 gemm\n"
      "1 compute 500 1000 softmax\n");
}

TEST(Session, OpensARecordingThenAnalyzesIt) {
  Session session;
  const QSignalSpy opened{&session, &Session::runOpened};
  const QSignalSpy reported{&session, &Session::reportChanged};
  session.open(demo);
  EXPECT_EQ(session.state(), LoadState::reading);
  EXPECT_EQ(session.run(), nullptr);
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(opened.count(), 1);
  EXPECT_EQ(reported.count(), 1);
  EXPECT_EQ(session.run()->ranks().size(), 4U);
  EXPECT_EQ(session.visible(), session.run()->extent());
  EXPECT_EQ(session.source().paths, demo.paths);
}

TEST(Session, SaysWhatCannotBeOpenedAndKeepsWhatIsShown) {
  Session session;
  session.show(small_run());
  ASSERT_TRUE(testing::becomes_ready(session));
  QSignalSpy failed{&session, &Session::failed};
  session.open({.paths = {"no/such/file"}});
  ASSERT_TRUE(testing::comes_true([&] { return failed.count() == 1; }));
  EXPECT_TRUE(failed.front().front().toString().contains(QStringLiteral("no/such/file")));
  EXPECT_EQ(session.state(), LoadState::ready);
  EXPECT_EQ(session.run()->spans().size(), 3U);
}

TEST(Session, AFileThatCannotBeOpenedDoesNotTakeTheReportAway) {
  Session session;
  const QSignalSpy failed{&session, &Session::failed};
  session.show(small_run());
  ASSERT_EQ(session.state(), LoadState::analyzing);
  session.open({.paths = {"no/such/file"}});  // ends the analysis
  EXPECT_EQ(session.why_no_report({}), QStringLiteral("Another recording is being read."));
  ASSERT_TRUE(testing::comes_true([&] { return failed.count() == 1; }));
  EXPECT_TRUE(testing::comes_true([&] { return session.report() != nullptr; }));
  EXPECT_EQ(session.state(), LoadState::ready);
}

TEST(Session, CancelledReadingDoesNotTakeTheReportAway) {
  Session session;
  session.show(small_run());
  session.open(demo);
  session.cancel();
  EXPECT_EQ(session.state(), LoadState::analyzing);
  EXPECT_EQ(session.why_no_report({}), QStringLiteral("Analyzing..."));
  EXPECT_TRUE(testing::comes_true([&] { return session.report() != nullptr; }));
  EXPECT_EQ(session.run()->spans().size(), 3U);
}

TEST(Session, ACancelledReportIsCalledSo) {
  Session session;
  EXPECT_EQ(session.why_no_report(QStringLiteral("none")), QStringLiteral("none"));
  session.show(small_run());
  session.cancel();
  EXPECT_EQ(session.state(), LoadState::ready);
  EXPECT_TRUE(session.why_no_report({}).startsWith(QStringLiteral("The report was cancelled")));
}

TEST(Session, CancelledReadingDeliversNothing) {
  Session session;
  const QSignalSpy opened{&session, &Session::runOpened};
  session.open(demo);
  session.cancel();
  EXPECT_EQ(session.state(), LoadState::nothing);
  session.show(small_run());
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(opened.count(), 1);
  EXPECT_EQ(session.run()->spans().size(), 3U);
}

TEST(Session, TheLastOfManyOpensWins) {
  Session session;
  for (int i = 0; i < 5; ++i) session.open({.paths = {"no/such/file"}});
  session.open(demo);
  const QSignalSpy failed{&session, &Session::failed};
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_EQ(failed.count(), 0);
  EXPECT_EQ(session.run()->ranks().size(), 4U);
}

TEST(Session, MayEndWhileItReads) {
  int told = 0;
  for (int i = 0; i < 3; ++i) {
    Session session;
    QObject::connect(&session, &Session::runOpened, [&told] { ++told; });
    QObject::connect(&session, &Session::failed, [&told] { ++told; });
    session.open(demo);
  }
  QCoreApplication::processEvents();
  EXPECT_EQ(told, 0) << "what was read belongs to nobody any more";
}

TEST(Session, TellsOfChangesOnly) {
  Session session;
  session.show(small_run());
  const QSignalSpy selected{&session, &Session::selectionChanged};
  const QSignalSpy ranged{&session, &Session::visibleRangeChanged};
  const QSignalSpy filtered{&session, &Session::filterChanged};
  session.select(SpanId{1});
  session.select(SpanId{1});
  session.set_visible({at(100), at(200)});
  session.set_visible({at(100), at(200)});
  session.set_filter({.ranks = {RankId{1}}});
  session.set_filter({.ranks = {RankId{1}}});
  EXPECT_EQ(selected.count(), 1);
  EXPECT_EQ(ranged.count(), 1);
  EXPECT_EQ(filtered.count(), 1);
}

TEST(Session, KeepsTheVisibleRangeNearTheRun) {
  Session session;
  session.show(small_run());
  session.set_visible({at(-1'000'000), at(-999'900)});
  EXPECT_EQ(session.visible(), (TimeRange{at(-101), at(-1)}));
  session.set_visible({at(0), at(1'000'000'000)});
  EXPECT_EQ(session.visible(), (TimeRange{at(-101), at(1'101)}));
  session.set_visible({at(50), at(50)});
  EXPECT_EQ(session.visible().length(), nanoseconds{20});
}

TEST(Session, GoesToASpanThatIsNotInSight) {
  Session session;
  session.show(small_run());
  session.set_visible({at(0), at(50)});
  const QSignalSpy revealed{&session, &Session::spanRevealRequested};
  session.go_to(SpanId{2});
  EXPECT_EQ(session.selection(), SpanId{2});
  EXPECT_FALSE(intersect(session.visible(), {at(500), at(1000)}).empty());
  EXPECT_EQ(revealed.count(), 1);
}

TEST(Session, ANewRunForgetsIdsOfTheOldOne) {
  Session session;
  session.show(small_run());
  session.select(SpanId{2});
  session.toggle_pin(LaneId{1});
  session.select_area(Area{{at(0), at(10)}, {LaneId{0}}});
  session.show(small_run());
  EXPECT_EQ(session.selection(), std::nullopt);
  EXPECT_TRUE(session.pinned().empty());
  EXPECT_EQ(session.area(), std::nullopt);
}

}  // namespace
}  // namespace rankscope::gui
