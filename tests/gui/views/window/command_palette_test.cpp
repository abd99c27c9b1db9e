// The list of all commands that is searched by words.
#include <gmock/gmock.h>

#include <QApplication>
#include <QDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QTableView>
#include <algorithm>

#include "gui/waiting.h"
#include "rankscope/core/model/text.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/views/compare/compare_window.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "timeline/commands.h"
#include "window/command_palette.h"

namespace rankscope::gui {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

QDialog* palette_of(const QWidget& window) { return window.findChild<QDialog*>(QStringLiteral("palette")); }

std::vector<std::string> offered(const QDialog& palette) {
  const auto* const model = palette.findChild<QTableView*>()->model();
  std::vector<std::string> names;
  for (int row = 0; row < model->rowCount(); ++row)
    names.push_back(model->index(row, 0).data().toString().toStdString());
  return names;
}

struct Asked {
  Session session;
  MainWindow window{session};
  QDialog* palette = nullptr;
  QLineEdit* words = nullptr;

  Asked() {
    window.show();
    session.show(*run_from_text("0 compute 0 100 gemm\n"));
    EXPECT_TRUE(testing::becomes_ready(session));
    EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(&window.timeline(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    palette = palette_of(window);
    if (palette == nullptr) return;
    words = palette->findChild<QLineEdit*>();
    EXPECT_TRUE(testing::comes_true([this] { return QApplication::focusWidget() == words; }))
        << "it can be typed at once";
  }
};

TEST(CommandPalette, OffersWhatMenusHaveByWordsInAnyOrder) {
  const Asked asked;
  ASSERT_NE(asked.words, nullptr);
  EXPECT_THAT(offered(*asked.palette), Contains("Open files..."));
  EXPECT_THAT(offered(*asked.palette), Contains("Findings")) << "panels, too";
  EXPECT_THAT(offered(*asked.palette), Not(Contains("All commands by name"))) << "it is open";
  QTest::keyClicks(asked.words, QStringLiteral("SAME next ev na"));
  EXPECT_THAT(offered(*asked.palette), ElementsAre("Next event with the same name"));
  QTest::keyClicks(asked.words, QStringLiteral("zzz"));
  EXPECT_THAT(offered(*asked.palette), IsEmpty());
  QTest::keyClick(asked.words, Qt::Key_Return);
  EXPECT_TRUE(asked.palette->isVisible()) << "nothing was chosen";
}

TEST(CommandPalette, FindsCommandsByOtherWordsForThem) {
  const Asked asked;
  ASSERT_NE(asked.words, nullptr);
  const auto first_of = [&](const char* words) {
    asked.words->setText(QString::fromLatin1(words));
    const auto names = offered(*asked.palette);
    return names.empty() ? std::string{} : names.front();
  };
  for (const char* const words : {"screenshot", "picture", "png", "save image"})
    EXPECT_EQ(first_of(words), "Save a picture (PNG or SVG)") << words;
  EXPECT_EQ(first_of("search"), "Search") << "the panel";
  EXPECT_THAT(offered(*asked.palette), Contains("Search names"));
  EXPECT_EQ(first_of("find"), "Findings") << "what has the word in its name is first";
  EXPECT_THAT(offered(*asked.palette), Contains("Search names"));
  first_of("zoom out");
  EXPECT_THAT(offered(*asked.palette), Contains("Show the whole run"));
  EXPECT_EQ(first_of("whole"), "Show the whole run");
  EXPECT_EQ(first_of("night"), "Theme: dark");
}

TEST(CommandPalette, HasSynonymsOnlyOfCommandsThatThereAre) {
  const Asked asked;
  for (const Synonyms& one : synonyms())
    EXPECT_NE(asked.window.findChild<QAction*>(qt_text(one.id)), nullptr) << one.id;
}

TEST(CommandPalette, SaysWhereThereIsNoSuchCommand) {
  const Asked asked;
  ASSERT_NE(asked.words, nullptr);
  const auto* const none = asked.palette->findChild<QLabel*>(QStringLiteral("palette_none"));
  EXPECT_FALSE(none->isVisible());
  asked.words->setText(QStringLiteral("zzz"));
  EXPECT_TRUE(none->isVisible());
  asked.words->setText(QStringLiteral("step"));
  EXPECT_FALSE(none->isVisible());
}

TEST(CommandPalette, DoesWhatIsChosenAndCloses) {
  const Asked asked;
  ASSERT_NE(asked.words, nullptr);
  auto& timeline = *asked.window.findChild<TimelineView*>();
  const Colouring before = timeline.colouring();
  QTest::keyClicks(asked.words, QStringLiteral("colour"));
  QTest::keyClick(asked.words, Qt::Key_Return);
  EXPECT_NE(timeline.colouring(), before);
  EXPECT_TRUE(testing::comes_true([&] { return palette_of(asked.window) == nullptr; }));
}

TEST(CommandPalette, MovesWithTheArrowsWhileWordsAreTyped) {
  const Asked asked;
  ASSERT_NE(asked.words, nullptr);
  const double height = asked.window.findChild<TimelineView*>()->model().row_height();
  QTest::keyClicks(asked.words, QStringLiteral("rows"));
  const auto names = offered(*asked.palette);
  const auto lower = std::ranges::find(names, "Shorter rows");
  ASSERT_NE(lower, names.end());
  for (auto at = names.begin(); at != lower; ++at) QTest::keyClick(asked.words, Qt::Key_Down);
  QTest::keyClick(asked.words, Qt::Key_Return);
  EXPECT_LT(asked.window.findChild<TimelineView*>()->model().row_height(), height);
}

TEST(CommandPalette, LeavesEverythingAsItIsOnEscape) {
  const Asked asked;
  ASSERT_NE(asked.words, nullptr);
  QTest::keyClick(asked.words, Qt::Key_Escape);
  EXPECT_TRUE(testing::comes_true([&] { return palette_of(asked.window) == nullptr; }));
  EXPECT_TRUE(asked.window.isVisible());
}

TEST(CommandPalette, OfTwoRunsHasNoCommandsThatWouldDoNothing) {
  Session a;
  Session b;
  CompareWindow window{a, b};
  window.show();
  window.timeline_b().setFocus();
  ASSERT_TRUE(QTest::qWaitForWindowActive(&window));
  QTest::keyClick(&window.timeline_b(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  ASSERT_NE(palette_of(window), nullptr);
  EXPECT_THAT(offered(*palette_of(window)), Contains("Next step"));
  EXPECT_THAT(offered(*palette_of(window)), Not(Contains("Record a run")));
}

}  // namespace
}  // namespace rankscope::gui
