// What the menus of the window have, and the themes.
#include <gmock/gmock.h>

#include <QApplication>
#include <QDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QTabBar>
#include <QTextBrowser>
#include <functional>
#include <map>

#include "base/shades.h"
#include "gui/views/pictures.h"
#include "gui/waiting.h"
#include "rankscope/gui/views/base/theme.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "timeline/commands.h"
#include "window/help_pages.h"

namespace rankscope::gui {
namespace {

using ::testing::IsSupersetOf;
using ::testing::Not;

std::vector<std::string> entries_of(const MainWindow& window, const char* menu) {
  std::vector<std::string> entries;
  for (const QAction* const top : window.menuBar()->actions())
    if (top->text().remove(QLatin1Char{'&'}) == QLatin1String{menu})
      for (const QAction* const action : top->menu()->actions())
        entries.push_back(action->text().remove(QLatin1Char{'&'}).toStdString());
  return entries;
}

void choose(const MainWindow& window, const char* name) {
  window.findChild<QAction*>(QString::fromLatin1(name))->trigger();
}

TEST(WindowMenus, HaveWhatGoesToAFileInFileAndHelpInHelp) {
  Session session;
  const MainWindow window{session};
  EXPECT_THAT(entries_of(window, "File"), IsSupersetOf({"Record a run", "Save a picture (PNG or SVG)",
                                                        "Export the selection or the visible range "
                                                        "(Perfetto, Chrome)",
                                                        "Save session"}));
  EXPECT_THAT(entries_of(window, "Timeline"), Not(::testing::Contains("Save a picture (PNG or SVG)"))) << "once";
  EXPECT_THAT(entries_of(window, "Help"), IsSupersetOf({"Keys and mouse", "All commands by name",
                                                        "What the colours mean", "Documentation", "About rankscope"}));
  EXPECT_THAT(entries_of(window, "View"),
              IsSupersetOf({"Theme: follow the desktop (system)", "Theme: light", "Theme: dark"}));
}

TEST(WindowMenus, HaveEachCommandOfTheTimelineOnceInAShortMenu) {
  Session session;
  MainWindow window{session};
  const std::vector<std::string> entries = entries_of(window, "Timeline");
  EXPECT_LE(entries.size(), 12U);
  EXPECT_THAT(entries, IsSupersetOf({"Zoom and move", "Events", "Marks", "Rows"}));
  std::map<QString, int> times;
  const std::function<void(const QList<QAction*>&)> count = [&](const QList<QAction*>& actions) {
    for (const QAction* const action : actions)
      action->menu() != nullptr ? count(action->menu()->actions()) : void(++times[action->objectName()]);
  };
  count(window.menuBar()->actions());
  for (const Command& command : commands())
    EXPECT_EQ(times[QString::fromUtf8(command.id.data(), static_cast<qsizetype>(command.id.size()))], 1) << command.id;
}

TEST(WindowMenus, ListTheMarksAndGoToThem) {
  Session session;
  MainWindow window{session};
  window.show();
  session.open({.paths = {RANKSCOPE_SAMPLES "/demo.rankscope"}});
  ASSERT_TRUE(testing::becomes_ready(session));
  ASSERT_TRUE(testing::comes_true([&] { return window.timeline().is_up_to_date(); }));
  const RunTime begin = session.extent().begin;
  const nanoseconds length = session.extent().length();
  session.set_visible({begin, begin + length / 10});
  window.timeline().navigator().set_marks(
      {{{begin + length / 2, begin + length / 2 + nanoseconds{1000}}, true, "the loader stalls"}});
  QMenu* marks = nullptr;
  for (QMenu* const menu : window.menuBar()->findChildren<QMenu*>())
    if (menu->title() == QStringLiteral("Marks")) marks = menu;
  ASSERT_NE(marks, nullptr);
  const auto own = marks->actions().size();
  for (int opened = 0; opened < 2; ++opened) {
    Q_EMIT marks->aboutToShow();
    ASSERT_EQ(marks->actions().size(), own + 2) << "a line and the mark, however often it is opened";
  }
  EXPECT_TRUE(marks->actions().back()->text().endsWith(QStringLiteral(": the loader stalls")))
      << marks->actions().back()->text().toStdString();
  marks->actions().back()->trigger();
  EXPECT_TRUE(session.visible().contains(begin + length / 2));
}

TEST(WindowMenus, ShowLegendDocumentationAndAbout) {
  Session session;
  MainWindow window{session};
  window.show();
  for (const char* const name : {"legend", "about"}) {
    choose(window, name);
    auto* const dialog = window.findChild<QDialog*>(QString::fromLatin1(name));
    ASSERT_NE(dialog, nullptr) << name;
    testing::paint(*dialog, dialog->sizeHint(), QString::fromLatin1(name));
    dialog->close();
  }
  ASSERT_FALSE(docs_file().isEmpty()) << "the tests run where the sources are";
  choose(window, "docs");
  const auto* const pages = window.findChild<QTextBrowser*>(QStringLiteral("docs_pages"));
  ASSERT_NE(pages, nullptr);
  EXPECT_TRUE(pages->toPlainText().contains(QStringLiteral("The timeline viewer")));
}

TEST(WindowMenus, AThemeIsTakenAtOnceAndKept) {
  Session session;
  MainWindow window{session};
  window.show();
  window.warn(QStringLiteral("This recording is incomplete."));
  const auto* const banner = window.findChild<QLabel*>(QStringLiteral("banner"));
  const auto warning_can_be_read = [banner] {
    const QPalette colours = banner->palette();
    return std::abs(colours.color(QPalette::Window).lightnessF() - colours.color(QPalette::WindowText).lightnessF()) >
           0.4F;
  };
  const bool was_dark = is_dark(window.palette());
  choose(window, "theme_dark");
  EXPECT_TRUE(testing::comes_true([&] { return is_dark(window.timeline().palette()); }));
  EXPECT_TRUE(testing::comes_true(warning_can_be_read));
  EXPECT_EQ(chosen_theme(), ThemeChoice::dark);
  testing::paint(window, {1280, 800}, QStringLiteral("window_dark"));
  choose(window, "theme_light");
  EXPECT_TRUE(testing::comes_true([&] { return !is_dark(window.timeline().palette()); }));
  EXPECT_TRUE(testing::comes_true(warning_can_be_read));
  choose(window, "theme_desktop");
  EXPECT_TRUE(testing::comes_true([&] { return is_dark(window.palette()) == was_dark; }));
  EXPECT_EQ(chosen_theme(), ThemeChoice::desktop);
}

TEST(WindowMenus, NamesOnTabsOfPanelsAreNotCut) {
  QSettings{}.remove(QStringLiteral("window"));  // as it is before anybody moved a panel
  Session session;
  MainWindow window{session};
  window.resize(1280, 800);
  window.show();
  QCoreApplication::processEvents();
  int tabs = 0;
  for (const auto* const bar : window.findChildren<QTabBar*>(QString{}, Qt::FindDirectChildrenOnly)) {
    EXPECT_EQ(bar->elideMode(), Qt::ElideNone);
    for (int i = 0; i < bar->count(); ++i)
      EXPECT_GT(bar->tabRect(i).width(), bar->fontMetrics().horizontalAdvance(bar->tabText(i)));
    tabs += bar->count();
  }
  EXPECT_EQ(tabs, 13) << "all but the map of ranks and steps";
}

}  // namespace
}  // namespace rankscope::gui
