// The selected event in words, and the members of its operation.
#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/details/details_model.h"

namespace rankscope::gui {
namespace {

QString cell(const QAbstractItemModel& model, int row, int column) {
  return model.index(row, column).data().toString();
}

TEST(DetailsModel, TellsNameRankTimesAndAttributesOfTheSelectedSpan) {
  const auto run = *run_from_text(
      "0 compute 10 20 void(anonymous)\n"
      "3 compute 1000 3500 \"void at::native::fill_kernel<float>(int)\" size_bytes=1048576 shape=@\"[2,3]\"\n");
  Session session;
  DetailsModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  ASSERT_TRUE(testing::shows(session, run));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_TRUE(model.title().isEmpty());
  session.select(SpanId{1});
  EXPECT_EQ(model.value_of(QStringLiteral("Name")), QStringLiteral("void at::native::fill_kernel<float>(int)"));
  EXPECT_EQ(model.value_of(QStringLiteral("Short name")), QStringLiteral("fill_kernel"));
  EXPECT_EQ(model.value_of(QStringLiteral("Rank")), QStringLiteral("rank 3"));
  EXPECT_EQ(model.value_of(QStringLiteral("Duration")), QStringLiteral("2.500 µs"));
  EXPECT_EQ(model.value_of(QStringLiteral("Start")), QStringLiteral("0.990 µs after the start of the run"));
  EXPECT_EQ(model.value_of(QStringLiteral("size_bytes")), QStringLiteral("1048576 (1.05 MB)"));
  EXPECT_EQ(model.value_of(QStringLiteral("shape")), QStringLiteral("[2,3]"));
  EXPECT_TRUE(model.as_text().contains(QStringLiteral("Duration: 2.500 µs\n")));
}

TEST(DetailsModel, SelfTimeLeavesOutWhatIsNested) {
  Session session;
  DetailsModel model{session};
  session.show(*run_from_text("0 forward 0 100 layer\n0 op 10 30 mm\n0 op 12 15 inner\n0 op 40 60 relu\n"));
  session.select(SpanId{0});
  EXPECT_EQ(model.value_of(QStringLiteral("Self time")), QStringLiteral("60 ns; the rest is in nested events"));
}

TEST(DetailsModel, WhatOverlapsInsideAnEventIsTakenFromItsSelfTimeOnce) {
  Session session;
  DetailsModel model{session};
  session.show(*run_from_text("0 op 0 10 P\n0 op 0 8 A\n0 op 5 9 B\n"));
  session.select(SpanId{0});
  EXPECT_EQ(model.value_of(QStringLiteral("Name")), QStringLiteral("P"));
  EXPECT_EQ(model.value_of(QStringLiteral("Self time")), QStringLiteral("1 ns; the rest is in nested events"));
}

TEST(DetailsModel, LeadsToTheLaunchOfAKernel) {
  Session session;
  DetailsModel model{session};
  session.show(
      *run_from_text("@rank 0\n@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
                     "0 runtime 0 10 cudaLaunchKernel lane=main\n0 compute 25 60 gemm lane=s7\n@link launch 0 1\n"));
  session.select(SpanId{1});
  EXPECT_EQ(model.value_of(QStringLiteral("Launched by")), QStringLiteral("cudaLaunchKernel, 25 ns earlier"));
  const auto launch =
      model.match(model.index(0, DetailsModel::property), Qt::DisplayRole, QStringLiteral("Launched by"));
  ASSERT_EQ(launch.size(), 1);
  model.go_to(launch.front().row());
  EXPECT_EQ(session.selection(), SpanId{0});
}

TEST(DetailsModel, TellsOfTheFindingUntilAnEventIsSelected) {
  Session session;
  DetailsModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const auto& findings = *session.report()->findings;
  const auto slow = std::ranges::find(findings, "straggler.compute", &analyzer::Finding::id);
  ASSERT_NE(slow, findings.end());
  session.select_finding(static_cast<std::size_t>(slow - findings.begin()));
  EXPECT_EQ(model.title(), QString::fromStdString(slow->title));
  EXPECT_EQ(model.value_of(QStringLiteral("Evidence")), QString::fromStdString(slow->evidence));
  EXPECT_EQ(model.value_of(QStringLiteral("What to do")), QString::fromStdString(slow->advice));
  EXPECT_TRUE(model.as_text().startsWith(model.title()));
  const SpanId op = testing::nth_span(*session.run(), RankId{2}, SpanKind::forward, 3);
  session.select(op);
  EXPECT_EQ(model.value_of(QStringLiteral("Evidence")), QString{});
  EXPECT_TRUE(
      model.value_of(QStringLiteral("On other ranks")).contains(QStringLiteral("(3 ranks); this event takes 1.")))
      << model.value_of(QStringLiteral("On other ranks")).toStdString();
  session.select(std::nullopt);
  EXPECT_EQ(model.title(), QString::fromStdString(slow->title)) << "again";
}

TEST(DetailsModel, ComparesAnEventWithTheSameOneOfItsStepOnOtherRanks) {
  Session session;
  DetailsModel model{session};
  std::string text = "@run world_size=3 clock=same_host clock_error=1\n";
  for (int rank = 0; rank < 3; ++rank)
    for (int step = 0; step < 2; ++step) {
      const std::string row = std::to_string(rank) + ' ';
      const int begin = step * 1000;
      text += row + "step " + std::to_string(begin) + ' ' + std::to_string(begin + 1000) +
              " step index=" + std::to_string(step) + '\n';
      text += row + "compute " + std::to_string(begin + 10) + ' ' + std::to_string(begin + 20) + " gemm\n";
      text += row + "compute " + std::to_string(begin + 100) + ' ' + std::to_string(begin + 200 + 100 * step * rank) +
              " gemm\n";
    }
  ASSERT_TRUE(testing::shows(session, *run_from_text(text)));
  const auto& run = *session.run();
  session.select(testing::nth_span(run, RankId{2}, SpanKind::compute, 3));
  EXPECT_EQ(model.value_of(QStringLiteral("On other ranks")),
            QStringLiteral("median 150 ns (2 ranks); this event takes 2.00× as long"));
  session.select(testing::nth_span(run, RankId{2}, SpanKind::compute, 0));
  EXPECT_EQ(model.value_of(QStringLiteral("On other ranks")),
            QStringLiteral("median 10 ns (2 ranks); this event takes 1.00× as long"));
}

TEST(DetailsModel, SaysHowFastACopyIs) {
  Session session;
  const DetailsModel model{session};
  ASSERT_TRUE(testing::shows(
      session, *run_from_text("0 memory 0 1000 \"Memcpy HtoD\" bytes=4500\n0 memory 2000 3000 \"Memset\"\n")));
  session.select(SpanId{0});
  EXPECT_EQ(model.value_of(QStringLiteral("Speed")), QStringLiteral("4.50 GB/s"));
  session.select(SpanId{1});
  EXPECT_EQ(model.value_of(QStringLiteral("Speed")), QString{}) << "its size was not recorded";
}

TEST(DetailsModel, SaysTheBusBandwidthOfTheGroup) {
  Session session;
  const DetailsModel model{session};
  ASSERT_TRUE(testing::shows(session, *run_from_text("@run world_size=2 clock=same_host clock_error=1\n@group dp 0,1\n"
                                                     "0 comm 0 100000 allreduce group=dp seq=0 bytes=440000\n"
                                                     "1 comm 0 100000 allreduce group=dp seq=0 bytes=440000\n"
                                                     "0 comm 200000 310000 allreduce group=dp seq=1 bytes=440000\n"
                                                     "1 comm 250000 310000 allreduce group=dp seq=1 bytes=440000\n")));
  ASSERT_TRUE(session.report()->collectives);
  ASSERT_EQ(session.report()->collectives->groups.size(), 1U);
  const auto& known = session.report()->collectives->groups.front().busbw_gbps;
  ASSERT_TRUE(known) << session.report()->collectives->groups.front().why_no_busbw;
  session.select(testing::nth_span(*session.run(), RankId{0}, SpanKind::comm));
  EXPECT_EQ(model.value_of(QStringLiteral("Bus bandwidth")),
            QStringLiteral("%1 GB/s, mean of all allreduce calls in this group").arg(*known, 0, 'f', 2));
}

TEST(DetailsModel, NeverSaysThatAnEventTakes0TimesAsLong) {
  Session session;
  const DetailsModel model{session};
  ASSERT_TRUE(testing::shows(session, *run_from_text("@run world_size=2 clock=same_host clock_error=1\n"
                                                     "0 step 0 10000 step index=0\n0 compute 10 9000 gemm\n"
                                                     "1 step 0 10000 step index=0\n1 compute 10 12 gemm\n")));
  session.select(testing::nth_span(*session.run(), RankId{1}, SpanKind::compute));
  EXPECT_EQ(model.value_of(QStringLiteral("On other ranks")),
            QStringLiteral("median 8.990 µs (1 rank); this event takes less than 0.01× as long"));
}

TEST(DetailsModel, SumsUpASelectedStretchUntilAnEventIsSelected) {
  Session session;
  DetailsModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  ASSERT_TRUE(testing::shows(session, *run_from_text("0 compute 0 60 gemm\n0 compute 80 100 relu\n")));
  session.select(SpanId{0});
  session.select_area(Area{{at(0), at(100)}, {LaneId{0}}});
  EXPECT_EQ(model.title(), QStringLiteral("Selected range of 100 ns"));
  ASSERT_TRUE(testing::comes_true([&] { return !model.value_of(QStringLiteral("Compute")).isEmpty(); }));
  EXPECT_EQ(model.value_of(QStringLiteral("Compute")), QStringLiteral("80 ns (80.0 %)"));
  EXPECT_EQ(model.value_of(QStringLiteral("Idle")), QStringLiteral("20 ns (20.0 %)"));
  EXPECT_EQ(model.value_of(QStringLiteral("Events")), QStringLiteral("2 (2 names)"));
  EXPECT_EQ(model.value_of(QStringLiteral("Most self time")), QStringLiteral("gemm: 60 ns"));
  session.select(SpanId{1});
  EXPECT_EQ(model.value_of(QStringLiteral("Name")), QStringLiteral("relu"));
  session.select_area(std::nullopt);
  session.select(std::nullopt);
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(DetailsModel, ShowsTheFindingThatIsGoneToInPlaceOfAnEventOrStretch) {
  Session session;
  DetailsModel model{session};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const QString finding = QString::fromStdString(session.report()->findings->front().title);
  session.select(SpanId{3});
  session.select_area(Area{session.extent(), {LaneId{0}}});
  session.select_finding(0);
  EXPECT_EQ(model.title(), finding);
  session.select(SpanId{3});
  session.select_finding(0);
  EXPECT_EQ(model.title(), finding) << "the same one again";
  session.clear_finding();
  EXPECT_EQ(model.rowCount(), 0);
}

TEST(DetailsModel, KnowsWhetherItsEventIsInSight) {
  Session session;
  DetailsModel model{session};
  session.show(*run_from_text("0 op 0 100 a\n0 op 900 1000 b\n"));
  session.select(SpanId{0});
  EXPECT_FALSE(model.is_out_of_sight());
  session.set_visible({at(500), at(1000)});
  EXPECT_TRUE(model.is_out_of_sight());
}

TEST(DetailsModel, SaysWhatWasCut) {
  Session session;
  DetailsModel model{session};
  session.show(*run_from_text("0 compute 0 10 gemm cut=end\n"));
  session.select(SpanId{0});
  EXPECT_TRUE(model.value_of(QStringLiteral("Cut")).contains(QStringLiteral("still running")));
}

TEST(MembersModel, NamesWhoCameLastAndWhoWaitedForWhom) {
  Session session;
  MembersModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  session.select(testing::nth_span(*session.run(), RankId{0}, SpanKind::comm, 5));
  ASSERT_EQ(model.rowCount(), 4);
  EXPECT_EQ(cell(model, 0, MembersModel::rank), QStringLiteral("rank 2")) << "the last one stands first";
  EXPECT_EQ(cell(model, 0, MembersModel::waited), QStringLiteral("0 ns"));
  EXPECT_TRUE(cell(model, 0, MembersModel::waited_for).isEmpty());
  EXPECT_EQ(cell(model, 3, MembersModel::arrived), QStringLiteral("first"));
  EXPECT_EQ(cell(model, 3, MembersModel::waited_for), QStringLiteral("rank 2"));
  EXPECT_TRUE(model.verdict().startsWith(QStringLiteral("Rank 2 arrived last: 3 ranks waited ")))
      << model.verdict().toStdString();
  model.go_to(0);
  EXPECT_EQ(session.run()->lane(session.run()->span(*session.selection()).lane).rank, RankId{2});
  EXPECT_TRUE(model.as_text().contains(QStringLiteral("rank 2")));
}

TEST(MembersModel, DoesNotCallTheRootOfABroadcastTheLastWhereAnotherCameAfterIt) {
  Session session;
  MembersModel model{session};
  ASSERT_TRUE(testing::shows(session, *run_from_text("@run clock=same_host\n@group dp 0,1,2\n"
                                                     "0 comm 30000 60000 broadcast group=dp peer=0\n"
                                                     "1 comm 0 60000 broadcast group=dp peer=0\n"
                                                     "2 comm 50000 60000 broadcast group=dp peer=0\n")));
  session.select(testing::nth_span(*session.run(), RankId{1}, SpanKind::comm));
  EXPECT_EQ(model.verdict(), QStringLiteral("The others waited for rank 0: 1 rank waited 30.000 µs in total."));
  EXPECT_EQ(cell(model, 0, MembersModel::rank), QStringLiteral("rank 2")) << "the last one stands first";
}

TEST(MembersModel, IsEmptyForAnEventOfOneRank) {
  Session session;
  MembersModel model{session};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  session.select(testing::nth_span(*session.run(), RankId{0}, SpanKind::op));
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_TRUE(model.verdict().isEmpty());
}

TEST(MembersModel, ListsMembersThatNeverCame) {
  Session session;
  MembersModel model{session};
  ASSERT_TRUE(testing::shows(session, *run_from_text("@group dp 0,1,2\n"
                                                     "0 comm 0 90 allreduce group=dp\n"
                                                     "1 comm 40 90 allreduce group=dp\n")));
  session.select(SpanId{0});
  ASSERT_EQ(model.rowCount(), 3);
  EXPECT_EQ(cell(model, 2, MembersModel::rank), QStringLiteral("rank 2"));
  EXPECT_EQ(cell(model, 2, MembersModel::arrived), QStringLiteral("never, or not recorded"));
}

}  // namespace
}  // namespace rankscope::gui
