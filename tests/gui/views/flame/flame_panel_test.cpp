// The panel of operators, and its picture without text.
#include <gtest/gtest.h>

#include <QAbstractScrollArea>
#include <QComboBox>
#include <QPushButton>
#include <QTabWidget>
#include <QTreeView>

#include "flame/flame_scene.h"
#include "gui/runs.h"
#include "gui/views/golden.h"
#include "gui/views/pictures.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/flame/flame_model.h"
#include "rankscope/gui/models/statistics/lane_blocks.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

/// Two layers, one of which has very many operators of different names.
std::shared_ptr<const Run> run_with_layers() {
  std::string text =
      "0 forward 0 400000 first\n0 op 0 250000 linear\n0 op 20000 220000 mm\n0 op 260000 380000 relu\n"
      "0 forward 400000 1000000 second\n";
  for (std::size_t i = 0; i < 300; ++i)
    text += format("0 op {} {} tiny_{}\n", 400'000 + i * 400, 400'000 + i * 400 + 300, std::string(1 + i, 'x'));
  text += "0 op 600000 900000 linear\n1 op 0 1000000 other\n";
  return *run_from_text(text);
}

QImage painted_flames(double ratio, Theme theme) {
  const auto run = run_with_layers();
  const FlameTree tree = *flame_tree(*run, LaneBlocks{*run}, {RankId{0}, run->extent(), {}}, {});
  const auto boxes = flame_boxes(tree, 0, 200);
  FlameScene scene{.tree = &tree, .boxes = boxes, .width = 200, .height = 100};
  scene.ratio = ratio;
  scene.theme = theme;
  scene.current = tree.frame_of(*run, SpanId{1});
  scene.selected = tree.frame_of(*run, SpanId{0});
  return paint(scene);
}

TEST(FlameScene, LooksAsItDidAtScale1) { testing::expect_painted("flame_light_1", painted_flames(1, Theme::light)); }
TEST(FlameScene, LooksAsItDidAtScale2) { testing::expect_painted("flame_light_2", painted_flames(2, Theme::light)); }
TEST(FlameScene, LooksAsItDidInTheDark) { testing::expect_painted("flame_dark_1", painted_flames(1, Theme::dark)); }

struct ShownFlames {
  Session session;
  std::unique_ptr<QWidget> panel{make_flame_panel(session, nullptr)};
  QAbstractScrollArea* view = panel->findChild<QAbstractScrollArea*>(QStringLiteral("flame_view"));
  QTreeView* tree = panel->findChild<QTreeView*>(QStringLiteral("flame_tree"));
  const FlameModel* model = qobject_cast<const FlameModel*>(tree->model());

  ShownFlames() {
    panel->resize(900, 300);
    panel->show();
    EXPECT_TRUE(testing::shows(session, run_with_layers()));
    EXPECT_TRUE(testing::comes_true([this] { return model->tree() != nullptr && !model->busy(); }));
    testing::paint(*panel, {900, 300}, QStringLiteral("flame"));
  }
  /// The middle of the n-th row of the picture, at a share of its width.
  [[nodiscard]] QPoint place(int row, double share) const {
    const int height = view->fontMetrics().height() + 5;
    return {static_cast<int>(share * view->viewport()->width()), row * height + height / 2};
  }
  void press(const char* button) const {
    QTest::mouseClick(panel->findChild<QPushButton*>(QString::fromLatin1(button)), Qt::LeftButton);
  }
  [[nodiscard]] QString top() const { return model->label(model->top()); }
};

TEST(FlamePanel, ZoomsIntoTheFrameThatIsClickedAndOutAgain) {
  const ShownFlames shown;
  QTest::mouseClick(shown.view->viewport(), Qt::LeftButton, {}, shown.place(2, 0.2));
  EXPECT_EQ(shown.top(), QStringLiteral("second")) << "the longer one is the first";
  shown.press("flame_out");
  EXPECT_EQ(shown.top(), QStringLiteral("main"));
  QTest::mouseClick(shown.view->viewport(), Qt::LeftButton, {}, shown.place(2, 0.8));
  EXPECT_EQ(shown.top(), QStringLiteral("first"));
  shown.press("flame_all");
  EXPECT_EQ(shown.top(), QStringLiteral("rank 0"));
}

TEST(FlamePanel, IsReachedByKeys) {
  const ShownFlames shown;
  shown.panel->setFocus();
  for (const Qt::Key key : {Qt::Key_Down, Qt::Key_Down, Qt::Key_Right, Qt::Key_Down}) QTest::keyClick(shown.view, key);
  EXPECT_TRUE(shown.view->accessibleDescription().startsWith(QStringLiteral("linear: 250.000 µs")))
      << shown.view->accessibleDescription().toStdString();
  QTest::keyClick(shown.view, Qt::Key_Return);
  EXPECT_EQ(shown.top(), QStringLiteral("linear"));
  QTest::keyClick(shown.view, Qt::Key_Backspace);
  EXPECT_EQ(shown.top(), QStringLiteral("first"));
  QTest::keyClick(shown.view, Qt::Key_Home);
  EXPECT_EQ(shown.top(), QStringLiteral("rank 0"));
}

TEST(FlamePanel, FindsTheFrameInTheTimeline) {
  const ShownFlames shown;
  QTest::mouseClick(shown.view->viewport(), Qt::LeftButton, {}, shown.place(2, 0.2));
  shown.press("flame_longest");
  ASSERT_TRUE(shown.session.selection());
  EXPECT_EQ(shown.session.run()->text(shown.session.run()->span(*shown.session.selection()).name), "second");
  shown.press("flame_find");
  EXPECT_EQ(shown.session.filter().text, "second");
}

TEST(FlamePanel, ShowsTheSameAsATree) {
  const ShownFlames shown;
  shown.panel->findChild<QTabWidget*>(QStringLiteral("flame_tabs"))->setCurrentIndex(1);
  testing::paint(*shown.panel, {900, 300}, QStringLiteral("flame_tree"));
  EXPECT_EQ(shown.tree->model()->index(0, 0).data().toString(), QStringLiteral("rank 0"));
  EXPECT_FALSE(shown.tree->accessibleName().isEmpty());
}

TEST(FlamePanel, ShowsTheRankThatIsChosen) {
  const ShownFlames shown;
  auto* const rank = shown.panel->findChild<QComboBox*>(QStringLiteral("flame_rank"));
  QTest::keyClick(rank, Qt::Key_Down);
  ASSERT_TRUE(testing::comes_true([&] { return !shown.model->busy() && shown.model->rank_row() == 1; }));
  EXPECT_TRUE(testing::comes_true([&] { return shown.model->label(0) == QStringLiteral("rank 1"); }));
}

}  // namespace
}  // namespace rankscope::gui
