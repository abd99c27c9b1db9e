// The panel of ranks and steps.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

QPalette dark_palette() {
  QPalette palette;
  palette.setColor(QPalette::Window, QColor{0x1a, 0x20, 0x29});
  palette.setColor(QPalette::Base, QColor{0x12, 0x16, 0x1c});
  palette.setColor(QPalette::Button, QColor{0x2a, 0x32, 0x3d});
  for (const auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText})
    palette.setColor(role, QColor{0xe4, 0xe9, 0xef});
  return palette;
}

TEST(StepMapPanel, GoesToTheCellThatIsClickedOrChosenByKeys) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_step_map_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  testing::paint(*panel, {700, 220}, QStringLiteral("step_map"));
  auto* const map = panel->findChild<QTableView*>(QStringLiteral("step_map"));
  QSignalSpy revealed{&session, &Session::revealRequested};
  QTest::mouseClick(map->viewport(), Qt::LeftButton, {}, map->visualRect(map->model()->index(2, 4)).center());
  ASSERT_EQ(revealed.count(), 1);
  EXPECT_EQ(revealed.back().front().value<RankId>(), RankId{2});
  QTest::keyClick(map, Qt::Key_Up);
  QTest::keyClick(map, Qt::Key_Return);
  ASSERT_EQ(revealed.count(), 2);
  EXPECT_EQ(revealed.back().front().value<RankId>(), RankId{1});
  testing::paint(*panel, {700, 220}, QStringLiteral("step_map_selected"));
}

TEST(StepMapPanel, TheSlowRankIsOrangeInBothThemes) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_step_map_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::recorded({.ranks = 16,
                                                         .steps = 200,
                                                         .operators = 4,
                                                         .faults = {synthetic::fault_from("slow:rank=5,factor=1.4"),
                                                                    synthetic::fault_from("pause:rank=9,ms=30,step=60,"
                                                                                          "every=50")}})));
  auto* const map = panel->findChild<QTableView*>(QStringLiteral("step_map"));
  for (const bool dark : {false, true}) {
    if (dark) panel->setPalette(dark_palette());
    testing::paint(*panel, {900, 480}, dark ? QStringLiteral("step_map_dark") : QStringLiteral("step_map_many"));
    const QImage image = map->viewport()->grab().toImage();
    const QColor slow = image.pixelColor(map->visualRect(map->model()->index(5, 20)).center());
    const QColor usual = image.pixelColor(map->visualRect(map->model()->index(3, 20)).center());
    EXPECT_GT(slow.red(), slow.blue() + 60);
    EXPECT_LT(std::abs(usual.red() - usual.blue()), 60);
  }
}

TEST(StepMapPanel, ShowsStepTimesOnDemand) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_step_map_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  panel->findChild<QComboBox*>(QStringLiteral("step_map_measure"))->setCurrentIndex(1);
  auto* const map = panel->findChild<QTableView*>(QStringLiteral("step_map"));
  EXPECT_TRUE(map->model()->index(0, 0).data(Qt::ToolTipRole).toString().contains(QStringLiteral("step time")));
}

TEST(StepMapPanel, HasRoomForFourRanksAndSaysTheUnitWhereItIsNarrow) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_step_map_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  for (const QSize size : {QSize{170, 230}, QSize{260, 230}, QSize{700, 230}}) {
    testing::paint(*panel, size, QStringLiteral("step_map_%1").arg(size.width()));
    const auto* const caption = panel->findChild<QLabel*>(QStringLiteral("step_map_caption"));
    EXPECT_TRUE(caption->text().startsWith(QStringLiteral("ms ")));
    EXPECT_GE(caption->height(), caption->heightForWidth(caption->width())) << "none of it is cut";
    const auto* const map = panel->findChild<QTableView*>(QStringLiteral("step_map"));
    EXPECT_TRUE(map->viewport()->rect().contains(map->visualRect(map->model()->index(3, 0)))) << size.width();
  }
}

}  // namespace
}  // namespace rankscope::gui
