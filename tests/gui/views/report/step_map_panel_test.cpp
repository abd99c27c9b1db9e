// The panel of ranks and steps.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/gui/models/details/selection_text.h"
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

/// How many pixels of a cell are not of its colour; its rim is left out.
int written_pixels(QTableView& map, int row, int column) {
  const QRect cell = map.visualRect(map.model()->index(row, column)).adjusted(1, 1, -2, -2);
  const QImage image = map.viewport()->grab(cell).toImage();
  int other = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) other += image.pixel(x, y) == image.pixel(0, 0) ? 0 : 1;
  return other;
}

TEST(StepMapPanel, HasNumbersInAllCellsOrInNone) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_step_map_panel(session, nullptr)};
  // Of three ranks one is the median rank.
  ASSERT_TRUE(testing::shows(
      session,
      testing::recorded({.ranks = 3, .steps = 8, .faults = {synthetic::fault_from("slow:rank=2,factor=1.5")}})));
  auto* const map = panel->findChild<QTableView*>(QStringLiteral("step_map"));
  int zero = -1;
  for (int row = 0; row < map->model()->rowCount(); ++row)
    for (int column = 1; column < map->model()->columnCount(); ++column)
      if (map->model()->index(row, column).data().toString() == QStringLiteral("0")) zero = row * 100 + column;
  ASSERT_GE(zero, 0) << "a cell of the median rank";
  bool any = false;
  bool none = false;
  for (int width = 160; width <= 900; width += 20) {
    testing::paint(*panel, {width, 260}, QStringLiteral("step_map_width"));
    map->clearSelection();
    const bool late = written_pixels(*map, 2, zero % 100) > 0;
    const bool even = written_pixels(*map, zero / 100, zero % 100) > 0;
    EXPECT_EQ(late, even) << "at a width of " << width;
    any = any || late;
    none = none || !late;
  }
  EXPECT_TRUE(any && none);
}

TEST(StepMapPanel, ItsTextNamesTheRanks) {
  Session session;
  const std::unique_ptr<QWidget> panel{make_step_map_panel(session, nullptr)};
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  const QString text = table_text(*panel->findChild<QTableView*>(QStringLiteral("step_map"))->model());
  EXPECT_TRUE(text.startsWith(QLatin1Char{'\t'})) << text.toStdString();
  EXPECT_EQ(text.count(QStringLiteral("\nrank ")), 4) << text.toStdString();
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
