// The schedule of a pipeline as it ran.
#include <gtest/gtest.h>

#include "gui/model_tester.h"
#include "gui/runs.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/pipeline/pipeline_model.h"

namespace rankscope::gui {
namespace {

struct ShownPipeline {
  Session session;
  PipelineModel model{session};
  QAbstractItemModelTester tester{&model, fatal};

  explicit ShownPipeline(const synthetic::Plan& plan) {
    model.set_active(true);
    EXPECT_TRUE(testing::shows(session, testing::recorded(plan)));
    EXPECT_TRUE(testing::comes_true([this] { return !model.busy(); }));
  }
};

synthetic::Plan four_stages() { return {.ranks = 8, .steps = 5, .pp = 4, .micro_batches = 4, .noise = 0}; }

TEST(PipelineModel, ListsTheActionsOfAStepStageByStageInTheirOrder) {
  ShownPipeline shown{four_stages()};
  ASSERT_EQ(shown.model.rowCount(), 4 * 4 * 2);
  EXPECT_EQ(shown.model.pipelines().size(), 2);
  QStringList first;
  QStringList last;
  for (int row = 0; row < 8; ++row) {
    first.append(shown.model.action_name(row));
    last.append(shown.model.action_name(24 + row));
  }
  EXPECT_EQ(first.join(QLatin1Char{' '}), QStringLiteral("F0 F1 F2 F3 B0 B1 B2 B3"));
  EXPECT_EQ(last.join(QLatin1Char{' '}), QStringLiteral("F0 B0 F1 B1 F2 B2 F3 B3"));
  EXPECT_TRUE(shown.model.place_name(0).startsWith(QStringLiteral("stage 0, rank ")));
}

TEST(PipelineModel, HoldsTheMeasuredBubbleBesideTheoreticalOne) {
  ShownPipeline shown{four_stages()};
  const QString caption = shown.model.caption();
  EXPECT_TRUE(caption.startsWith(QStringLiteral("1f1b, 4 ranks, 4 micro-batches."))) << caption.toStdString();
  EXPECT_TRUE(caption.endsWith(QStringLiteral("required by the schedule: 42.9 %."))) << caption.toStdString();  // 3 / 7
  EXPECT_NEAR(shown.model.shown()->bubble(), 3.0 / 7, 0.01);
}

TEST(PipelineModel, FollowsTheRangeAndShowsTheStepThatIsChosen) {
  ShownPipeline shown{four_stages()};
  const int before = shown.model.step();
  const int other = before == 0 ? 1 : 0;
  shown.model.set_step(other);
  EXPECT_EQ(shown.model.step(), other);
  EXPECT_FALSE(intersect(shown.session.visible(), shown.model.shown()->time).empty());
  EXPECT_EQ(shown.model.drawn_range(), shown.model.shown()->time);
  const TimeRange next = shown.model.shown()->time;
  shown.session.set_visible({next.begin + next.length() / 4, next.begin + next.length() / 2});
  EXPECT_EQ(shown.model.drawn_range(), shown.session.visible()) << "only that part of the step is in sight";
  const nanoseconds step = next.length();
  shown.session.set_visible({next.begin + 2 * step, next.end + 2 * step});
  EXPECT_GT(shown.model.step(), other);
  const int late = shown.model.step();
  shown.session.fit_all();
  EXPECT_EQ(shown.model.step(), late) << "all of the run is no step in particular";
}

TEST(PipelineModel, GoesToAnActionInTheTimelineAndKnowsTheSelectedOne) {
  ShownPipeline shown{four_stages()};
  shown.model.go_to(9);
  ASSERT_TRUE(shown.session.selection());
  const Span& span = shown.session.run()->span(*shown.session.selection());
  EXPECT_EQ(span.time.begin, shown.model.shown()->actions[9].time.begin);
  EXPECT_TRUE(span.kind == SpanKind::forward || span.kind == SpanKind::backward) << name_of(span.kind);
  EXPECT_EQ(shown.model.selected_row(), 9);
}

TEST(PipelineModel, ShowsTheOtherPipelineOnDemand) {
  ShownPipeline shown{four_stages()};
  const QString before = shown.model.place_name(0);
  shown.model.set_pipeline(1 - shown.model.pipeline());
  EXPECT_NE(shown.model.place_name(0), before);
}

TEST(PipelineModel, DrawsNothingWhereClocksCannotBeCompared) {
  std::string text = "@run world_size=2 clock=none\n@rank 0 pid=1 host=a\n@rank 1 pid=2 host=b\n";
  for (int rank = 0; rank < 2; ++rank)
    text += format(
        "{0} forward 100 200 f micro_batch=0 stage={0}\n{0} backward 300 500 b micro_batch=0 stage={0}\n"
        "{0} comm 210 220 send group=- peer={1}\n",
        rank, 1 - rank);
  Session session;
  PipelineModel model{session};
  model.set_active(true);
  ASSERT_TRUE(testing::shows(session, *run_from_text(text)));
  ASSERT_TRUE(testing::comes_true([&] { return !model.busy(); }));
  ASSERT_TRUE(session.report()->pipeline) << session.report()->pipeline.error().why;
  EXPECT_EQ(model.rowCount(), 0);
  EXPECT_EQ(model.why_empty().toStdString(),
            "The schedule cannot be drawn: the clocks of the ranks cannot be compared.");
}

TEST(PipelineModel, SaysThatARunHasNoPipeline) {
  ShownPipeline shown{{.ranks = 2, .steps = 3}};
  EXPECT_EQ(shown.model.rowCount(), 0);
  EXPECT_TRUE(shown.model.why_empty().startsWith(QStringLiteral("There is no schedule to show.")))
      << shown.model.why_empty().toStdString();
  EXPECT_TRUE(shown.model.caption().isEmpty());
}

}  // namespace
}  // namespace rankscope::gui
