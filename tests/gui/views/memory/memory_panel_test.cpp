// The panel of memory, and its picture without text.
#include <gtest/gtest.h>

#include <QAbstractScrollArea>
#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>

#include "gui/runs.h"
#include "gui/views/golden.h"
#include "gui/views/pictures.h"
#include "memory/memory_scene.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/memory/memory_model.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

/// Two ranks whose memory rises and falls in each of four steps; rank 1 needs half as much.
std::shared_ptr<const Run> run_with_memory() {
  std::string text;
  for (int rank = 0; rank < 2; ++rank) {
    text += format("@lane {} main kind=thread number=1\n", rank);
    for (int step = 0; step < 4; ++step) {
      const int begin = step * 1'000'000;
      text +=
          format("{0} step {1} {2} step index={3}\n{0} op {1} {2} aten::mm\n", rank, begin, begin + 1'000'000, step);
      for (int i = 0; i < 20; ++i) {
        const int sign = i < 10 ? 1 : -1;
        const int bytes = (step + 1) * 1'000'000 / (rank + 1);
        text +=
            format("{} mark {} [memory] bytes={} address={} \"Device Type\"=0 allocated_bytes={} lane=main\n", rank,
                   begin + 20'000 + i * 40'000, sign * bytes, i < 10 ? i : 19 - i, bytes * (i < 10 ? i + 1 : 19 - i));
      }
    }
  }
  return *run_from_text(text);
}

QImage painted_memory(double ratio, Theme theme) {
  const auto run = run_with_memory();
  const auto lines = analyzer::memory_lines(*run);
  MemoryScene scene{.time = run->extent(), .width = 200, .row_height = 50, .ratio = ratio, .top = 1, .rows = {}};
  scene.theme = theme;
  const std::vector<MemoryPeaks> all(lines.begin(), lines.end());
  for (const MemoryPeaks& peaks : all) {
    scene.rows.push_back({&peaks, peaks.in(scene.time)});
    scene.top = std::max(scene.top, scene.rows.back().peak->bytes);
  }
  for (int step = 0; step < 4; ++step) scene.steps.push_back(at(step * 1'000'000));
  return paint(scene);
}

TEST(MemoryScene, LooksAsItDidAtScale1) { testing::expect_painted("memory_light_1", painted_memory(1, Theme::light)); }
TEST(MemoryScene, LooksAsItDidAtScale2) { testing::expect_painted("memory_light_2", painted_memory(2, Theme::light)); }
TEST(MemoryScene, LooksAsItDidInTheDark) { testing::expect_painted("memory_dark_1", painted_memory(1, Theme::dark)); }

struct ShownMemoryPanel {
  Session session;
  std::unique_ptr<QWidget> panel{make_memory_panel(session, nullptr)};
  QTableView* table = panel->findChild<QTableView*>(QStringLiteral("memory_table"));
  QAbstractScrollArea* chart = panel->findChild<QAbstractScrollArea*>(QStringLiteral("memory_chart"));

  ShownMemoryPanel() {
    panel->show();
    EXPECT_TRUE(testing::shows(session, run_with_memory()));
    EXPECT_TRUE(testing::comes_true([this] { return table->model()->rowCount() == 2; }));
    testing::paint(*panel, {900, 240}, QStringLiteral("memory"));
  }
  std::string_view selected() const {
    return session.selection() ? session.run()->text(session.run()->span(*session.selection()).name) : "nothing";
  }
};

TEST(MemoryPanel, SaysWhatIsShownAndInWhichUnit) {
  const ShownMemoryPanel shown;
  EXPECT_EQ(shown.panel->findChild<QComboBox*>(QStringLiteral("memory_choice"))->currentText(),
            QStringLiteral("allocated on the host"));
  EXPECT_TRUE(
      shown.panel->findChild<QLabel*>(QStringLiteral("memory_caption"))->text().startsWith(QStringLiteral("Bytes")));
}

TEST(MemoryPanel, GoesToTheMomentThatIsClicked) {
  const ShownMemoryPanel shown;
  QSignalSpy revealed{&shown.session, &Session::revealRequested};
  QTest::mouseClick(shown.chart->viewport(), Qt::LeftButton, {}, {400, shown.chart->viewport()->height() - 20});
  ASSERT_GE(revealed.count(), 1);
  EXPECT_EQ(revealed.front().front().value<RankId>(), RankId{1});
  EXPECT_NE(shown.selected(), "nothing");
}

TEST(MemoryPanel, GoesToThePeakOfARowByItsName) {
  const ShownMemoryPanel shown;
  QTest::mouseClick(shown.chart->viewport(), Qt::LeftButton, {}, {20, 50});
  EXPECT_EQ(shown.selected(), "aten::mm");
  EXPECT_TRUE(shown.session.visible().contains(at(3'380'000))) << "where the fourth step has most";
  EXPECT_LT(shown.session.visible().length(), nanoseconds{1'500'000});
}

TEST(MemoryPanel, IsReachedByKeys) {
  const ShownMemoryPanel shown;
  shown.panel->setFocus();
  QSignalSpy revealed{&shown.session, &Session::revealRequested};
  QTest::keyClick(shown.chart, Qt::Key_Down);
  QTest::keyClick(shown.chart, Qt::Key_Home);
  EXPECT_TRUE(shown.chart->accessibleDescription().startsWith(QStringLiteral("rank 1: 20.0 MB")))
      << shown.chart->accessibleDescription().toStdString();
  QTest::keyClick(shown.chart, Qt::Key_Return);
  ASSERT_GE(revealed.count(), 1);
  EXPECT_EQ(revealed.front().front().value<RankId>(), RankId{1});
  EXPECT_TRUE(shown.session.visible().contains(at(3'380'000)));
}

}  // namespace
}  // namespace rankscope::gui
