// What the menus of the window have, and the themes.
#include <gmock/gmock.h>

#include <QApplication>
#include <QDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QTabBar>
#include <QTextBrowser>

#include "base/shades.h"
#include "gui/views/pictures.h"
#include "gui/waiting.h"
#include "rankscope/gui/views/base/theme.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
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
  EXPECT_EQ(tabs, 11) << "all but the map of ranks and steps";
}

}  // namespace
}  // namespace rankscope::gui
