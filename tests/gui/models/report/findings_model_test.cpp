// Findings as a table, and where they are to be seen.
#include <gtest/gtest.h>

#include <QSignalSpy>

#include "gui/model_tester.h"
#include "gui/waiting.h"
#include "rankscope/analyzer/render.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/report/findings_model.h"
#include "rankscope/gui/models/report/verdict_words.h"

namespace rankscope::gui {
namespace {

analyzer::Finding finding_on(std::optional<RankId> rank, std::optional<std::int64_t> step) {
  analyzer::Finding finding;
  finding.rank = rank;
  finding.step = step;
  return finding;
}

TEST(FindingsModel, HasTheFindingsOfTheReportAndGoesToTheSlowRank) {
  Session session;
  FindingsModel model{session};
  const QAbstractItemModelTester tester{&model, fatal};
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_FALSE(model.why_empty().isEmpty());
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_GT(model.rowCount(), 0);
  EXPECT_EQ(model.finding(0).rank, RankId{2});
  const QSignalSpy revealed{&session, &Session::revealRequested};
  model.go_to(0);
  ASSERT_EQ(revealed.count(), 1);
  EXPECT_EQ(revealed.front().front().value<RankId>(), RankId{2});
  EXPECT_LT(session.visible().length(), session.extent().length() / 4) << "one step of twelve";
}

TEST(FindingsModel, ShowsTheVerdictOfTheTextReport) {
  Session session;
  FindingsModel model{session};
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_TRUE(model.note().startsWith(QStringLiteral("Rank 2 is slow"))) << model.note().toStdString();
  for (const std::string& sentence : analyzer::verdict_sentences(*session.report())) {
    EXPECT_TRUE(model.whole_note().contains(QString::fromStdString(sentence))) << sentence;
    const bool is_doubt = sentence.find("Cannot tell") != std::string::npos;
    EXPECT_TRUE(is_doubt || model.note().contains(QString::fromStdString(sentence))) << sentence;
  }
  EXPECT_FALSE(model.note().contains(QStringLiteral("whether other ranks are slow"))) << "a slow rank is named";
}

TEST(FindingsModel, SaysInAShortSentenceThatASlowRankMayBeHidden) {
  analyzer::StragglersSection stragglers;
  stragglers.cannot_tell = "only three steps were counted, which is too few";
  analyzer::Report report;
  report.stragglers = stragglers;
  report.steps = analyzer::StepsSection{};
  EXPECT_TRUE(whole_verdict(report).contains(
      QStringLiteral("Cannot tell whether a rank is slow: only three steps were counted, which is too few.")))
      << whole_verdict(report).toStdString();
  EXPECT_TRUE(brief_verdict(report).contains(QStringLiteral("Cannot tell whether a rank is slow.")))
      << brief_verdict(report).toStdString();
  EXPECT_FALSE(brief_verdict(report).contains(QStringLiteral("three steps")));
}

TEST(FindingsModel, NamesPanelsInPlaceOfSectionsOfTheTextReport) {
  Session session;
  FindingsModel model{session};
  session.show(*run_from_text("@quality events_dropped 7\n0 compute 0 100 gemm\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  const QString said = model.why_empty() + model.note();
  EXPECT_FALSE(said.contains(QStringLiteral("DATA QUALITY"))) << said.toStdString();
  EXPECT_FALSE(said.contains(QStringLiteral("NOT AVAILABLE"))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("see Data quality"))) << said.toStdString();
  EXPECT_TRUE(with_links_to_panels(said).contains(QStringLiteral("<a href=\"quality\">Data quality</a>")));
}

TEST(FindingsModel, SaysHowTheNextRecordingGetsSteps) {
  Session session;
  FindingsModel model{session};
  session.show(*run_from_text("0 compute 0 100 gemm\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  const QString advice = QStringLiteral("Mark each step with an NVTX range");
  EXPECT_TRUE((model.why_empty() + model.note()).contains(advice)) << model.why_empty().toStdString();
  EXPECT_NE(model.why_empty().isEmpty(), model.note().isEmpty()) << "beside rows, or in their place";
}

TEST(FindingsModel, NothingFoundIsNotSaidWhereItCannotBeTold) {
  Session session;
  FindingsModel model{session};
  session.show(*run_from_text("@quality segment_cut 1\n0 compute 0 100 gemm\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  const QString said = model.why_empty() + model.note();
  EXPECT_TRUE(said.contains(QStringLiteral("the time after the cut is not judged"))) << said.toStdString();
  EXPECT_TRUE(said.contains(QStringLiteral("Cannot tell which rank is slow or how long a step takes")))
      << said.toStdString();
  EXPECT_FALSE(said.contains(QStringLiteral("No problem was found.")));
}

TEST(FindingsModel, ShowsThatCopiesTakeMostOfTheTime) {
  Session session;
  FindingsModel model{session};
  session.show(
      *run_from_text("@lane 0 main kind=thread number=1\n@lane 0 s7 kind=stream number=7 device=0\n"
                     "0 runtime 0 9000000 cudaMalloc lane=main\n"
                     "0 memory 9000000 9970000 \"Memcpy HtoD\" bytes=970000 lane=s7\n"
                     "0 compute 9970000 10000000 gemm lane=s7\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  bool found = false;
  for (int row = 0; row < model.rowCount(); ++row) found = found || model.finding(row).id == "exposed_copies";
  EXPECT_TRUE(found) << model.note().toStdString() << model.why_empty().toStdString();
}

TEST(FindingsModel, SaysThatPartsAreMissing) {
  Session session;
  FindingsModel model{session};
  session.show(*run_from_text("@quality events_dropped 7\n0 compute 0 100 gemm\n"));
  ASSERT_TRUE(testing::becomes_ready(session));
  EXPECT_TRUE((model.why_empty() + model.note()).contains(QStringLiteral("Parts of the recording are missing")));
}

TEST(FindingsModel, AFindingWithoutStepsIsAllOfTheRun) {
  analyzer::Report report;
  const TimeRange all{at(0), at(1000)};
  EXPECT_EQ(place_of(finding_on(RankId{3}, {}), report, all), (Place{all, RankId{3}}));
}

// Rank 1 is killed in its second step; rank 0 waits for it from 150 ms on, and is ended after 60 s.
constexpr std::string_view lost_rank =
    "@run clock=same_host world_size=2 meta.exit_status=1\n@group dp 0,1\n"
    "@rank 0 recorded=0:60000000000 ended=exited:1\n@rank 1 recorded=0:120000000 ended=vanished\n"
    "0 step 0 100000000 step index=0\n1 step 0 100000000 step index=0\n"
    "0 comm 50000000 90000000 allreduce group=dp\n1 comm 60000000 90000000 allreduce group=dp\n"
    "0 step 100000000 60000000000 step index=1 cut=end\n0 comm 150000000 - allreduce group=dp state=started\n"
    "1 step 100000000 120000000 step index=1 cut=end\n";

TEST(FindingsModel, ARunThatLostARankIsFirstSeenWhereTheRankIsMissed) {
  Session session;
  session.show(*run_from_text(lost_rank));
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_FALSE(session.report()->findings->empty());
  EXPECT_EQ(session.report()->findings->front().id, "rank_lost");
  const QSignalSpy revealed{&session, &Session::revealRequested};
  show_first_sight(session);
  EXPECT_EQ(session.visible(), (TimeRange{at(50'000'000), at(250'000'000)})) << "a step before and after it";
  ASSERT_EQ(revealed.count(), 1);
  EXPECT_EQ(revealed.front().front().value<RankId>(), RankId{1});
  session.set_visible({at(0), at(500'000)});
  show_first_sight(session);
  EXPECT_EQ(session.visible(), (TimeRange{at(0), at(500'000)})) << "somebody has looked elsewhere";
}

TEST(FindingsModel, AFindingOfOneStepIsThatStepOnItsRank) {
  analyzer::Report report;
  analyzer::StepsSection steps;
  steps.steps = {{.index = 7, .time = {at(0), at(100)}, .wall_ns = 100, .complete = true}};
  steps.windows = {{.rank = RankId{1}, .index = 7, .window = {at(10), at(110)}, .complete = true}};
  report.steps = steps;
  const TimeRange all{at(0), at(1000)};
  EXPECT_EQ(place_of(finding_on({}, 7), report, all).time, (TimeRange{at(-10), at(110)}));
  EXPECT_EQ(place_of(finding_on(RankId{1}, 7), report, all).time, (TimeRange{at(0), at(120)}));
}

}  // namespace
}  // namespace rankscope::gui
