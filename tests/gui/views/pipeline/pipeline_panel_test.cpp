// The panel of the pipeline's schedule, and its picture without text.
#include <gtest/gtest.h>

#include <QAbstractScrollArea>
#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/golden.h"
#include "gui/views/pictures.h"
#include "pipeline/pipeline_scene.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/pipeline/pipeline_model.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

using analyzer::PlacedAction;

/// Two stages, two micro-batches; the second stage waits at the begin and at the end.
std::vector<PlacedAction> small_step() {
  using enum PipelinePart;
  return {{{forward, 0, 0}, 0, 0, {at(0), at(100)}},           {{forward, 0, 1}, 0, 0, {at(100), at(200)}},
          {{backward, 0, 0}, 0, 0, {at(400), at(600)}},        {{backward, 0, 1}, 0, 0, {at(700), at(900)}},
          {{forward, 0, 0}, 1, 1, {at(100), at(200)}},         {{backward_input, 0, 0}, 1, 1, {at(200), at(350)}},
          {{forward, 0, 1}, 1, 1, {at(350), at(450)}},         {{backward_input, 0, 1}, 1, 1, {at(450), at(600)}},
          {{backward_weight, 0, 0}, 1, 1, {at(600), at(700)}}, {{backward_weight, 0, 1}, 1, 1, {at(700), at(800)}}};
}

QImage painted_pipeline(double ratio, Theme theme) {
  const auto actions = small_step();
  PipelineScene scene{.actions = actions, .step = {at(0), at(900)}, .time = {at(0), at(900)}, .places = 2};
  scene.width = 200;
  scene.ratio = ratio;
  scene.current = 1;
  scene.selected = 6;
  scene.theme = theme;
  return paint(scene);
}

TEST(PipelineScene, LooksAsItDidAtScale1) {
  testing::expect_painted("pipeline_light_1", painted_pipeline(1, Theme::light));
}
TEST(PipelineScene, LooksAsItDidAtScale2) {
  testing::expect_painted("pipeline_light_2", painted_pipeline(2, Theme::light));
}
TEST(PipelineScene, LooksAsItDidInTheDark) {
  testing::expect_painted("pipeline_dark_1", painted_pipeline(1, Theme::dark));
}

TEST(PipelineScene, RowsInSightLookAsInThePictureOfAll) {
  const auto actions = small_step();
  PipelineScene scene{.actions = actions, .step = {at(0), at(900)}, .time = {at(0), at(900)}, .places = 2};
  scene.width = 200;
  scene.current = 6;
  const QImage all = paint(scene);
  scene.first = 1;
  scene.places = 1;
  const QImage second = paint(scene);
  EXPECT_EQ(second.size(), QSize(200, 30));
  EXPECT_EQ(second.copy(0, 0, 200, 26), all.copy(0, 30, 200, 26));
}

TEST(PipelineScene, BubblesAreWhereAStageDoesNothing) {
  const auto actions = small_step();
  const TimeRange step{at(0), at(900)};
  EXPECT_EQ(bubbles_of(actions, step, 0), (std::vector<TimeRange>{{at(200), at(400)}, {at(600), at(700)}}));
  EXPECT_EQ(bubbles_of(actions, step, 1), (std::vector<TimeRange>{{at(0), at(100)}, {at(800), at(900)}}));
}

struct ShownPipelinePanel {
  Session session;
  std::unique_ptr<QWidget> panel{make_pipeline_panel(session, nullptr)};
  QAbstractScrollArea* chart = panel->findChild<QAbstractScrollArea*>(QStringLiteral("pipeline_chart"));
  QTableView* table = panel->findChild<QTableView*>(QStringLiteral("pipeline_table"));
  const PipelineModel* model = qobject_cast<const PipelineModel*>(table->model());

  explicit ShownPipelinePanel(const synthetic::Plan& plan) {
    panel->resize(900, 280);
    panel->show();
    EXPECT_TRUE(testing::shows(session, testing::recorded(plan)));
    EXPECT_TRUE(testing::comes_true([this] { return !model->busy(); }));
    testing::paint(*panel, {900, 280}, QStringLiteral("pipeline"));
  }
};

synthetic::Plan four_stages() { return {.ranks = 4, .steps = 5, .pp = 4, .micro_batches = 6}; }

TEST(PipelinePanel, GoesToTheActionThatIsClickedOrChosenByKeys) {
  const ShownPipelinePanel shown{four_stages()};
  QTest::mouseClick(shown.chart->viewport(), Qt::LeftButton, {}, {160, 22 + 10});
  ASSERT_TRUE(shown.session.selection());
  const auto begin = [&] { return shown.session.run()->span(*shown.session.selection()).time.begin; };
  EXPECT_EQ(begin(), shown.model->shown()->actions[0].time.begin);
  shown.panel->setFocus();
  QTest::keyClick(shown.chart, Qt::Key_Right);
  QTest::keyClick(shown.chart, Qt::Key_Down);
  EXPECT_TRUE(shown.chart->accessibleDescription().contains(QStringLiteral("stage 1, rank 1")))
      << shown.chart->accessibleDescription().toStdString();
  QTest::keyClick(shown.chart, Qt::Key_Return);
  const rankscope::Run& run = *shown.session.run();
  EXPECT_EQ(run.lane(run.span(*shown.session.selection()).lane).rank, RankId{1});
}

TEST(PipelinePanel, ShowsTheStepThatIsChosen) {
  const ShownPipelinePanel shown{four_stages()};
  auto* const step = shown.panel->findChild<QComboBox*>(QStringLiteral("pipeline_step"));
  ASSERT_GE(step->count(), 3);
  const int before = step->currentIndex();
  QTest::keyClick(shown.chart, before == 0 ? Qt::Key_PageDown : Qt::Key_PageUp);
  EXPECT_EQ(step->currentIndex(), before == 0 ? 1 : before - 1);
  EXPECT_EQ(step->currentText().section(QLatin1Char{':'}, 0, 0),
            QStringLiteral("step %1").arg(shown.model->shown()->step));
}

TEST(PipelinePanel, SaysThatARunHasNoPipeline) {
  const ShownPipelinePanel shown{{.ranks = 2, .steps = 3}};
  const auto* const empty = shown.panel->findChild<QLabel*>(QStringLiteral("pipeline_empty"));
  EXPECT_TRUE(empty->isVisible());
  EXPECT_TRUE(empty->text().startsWith(QStringLiteral("There is no schedule to show.")));
}

}  // namespace
}  // namespace rankscope::gui
