// The menus of the window, and what they ask for.
#include <QActionGroup>
#include <QFileDialog>
#include <QMenuBar>
#include <array>

#include "base/dialogs.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/views/base/theme.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/main_window.h"
#include "timeline/commands.h"
#include "window/help_pages.h"
#include "window/marks_menu.h"
#include "window/sources.h"

namespace rankscope::gui {
namespace {

/// Commands of the timeline that are looked for in other menus.
constexpr std::array of_file{"save_view", "picture", "export"};

QAction* named(QAction* action, const char* name) {
  action->setObjectName(QString::fromLatin1(name));
  return action;
}

}  // namespace

void MainWindow::make_menus() {
  make_file_menu();
  view_->addSeparator();
  named(view_->addAction(tr("&Reset layout"), this, &MainWindow::reset_layout), "reset_layout");
  make_themes();
  menuBar()->addMenu(view_);
  QMenu* const move = menuBar()->addMenu(tr("&Timeline"));
  fill_timeline_menu(*move, *timeline_);
  for (const QAction* const entry : move->actions())
    if (entry->menu() != nullptr && entry->text() == qt_text(marks_menu)) list_marks(*entry->menu(), *timeline_);
  QMenu* const help = menuBar()->addMenu(tr("&Help"));
  help->addAction(timeline_->findChild<QAction*>(QStringLiteral("help")));
  help->addAction(timeline_->findChild<QAction*>(QStringLiteral("palette")));
  named(help->addAction(tr("What the &colours mean"), this, [this] { show_legend(*this); }), "legend");
  named(help->addAction(tr("&Documentation"), this, [this] { show_docs(*this); }), "docs");
  help->addSeparator();
  named(help->addAction(tr("&About rankscope"), this, [this] { show_about(*this); }), "about");
}

void MainWindow::make_file_menu() {
  QMenu* const file = menuBar()->addMenu(tr("&File"));
  named(file->addAction(tr("Open recor&ding..."), QKeySequence{QStringLiteral("Ctrl+Shift+O")}, this,
                        &MainWindow::ask_for_folder),
        "open_recording");
  named(file->addAction(tr("&Open files..."), QKeySequence::Open, this, &MainWindow::ask_for_files), "open_files");
  recent_ = file->addMenu(tr("&Recent"));
  connect(recent_, &QMenu::aboutToShow, this, &MainWindow::list_recent);
  file->addAction(timeline_->findChild<QAction*>(QStringLiteral("record")));
  file->addSeparator();
  for (const char* const name : of_file) file->addAction(timeline_->findChild<QAction*>(QString::fromLatin1(name)));
  file->addSeparator();
  named(file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close), "quit");
}

void MainWindow::make_themes() {
  view_->addSeparator();
  auto* const group = new QActionGroup(this);
  struct ThemeEntry {
    const char* name;
    QString title;
    ThemeChoice choice;
  };
  for (const ThemeEntry& theme :
       {ThemeEntry{"theme_desktop", tr("Theme: follow the desktop (system)"), ThemeChoice::desktop},
        ThemeEntry{"theme_light", tr("Theme: light"), ThemeChoice::light},
        ThemeEntry{"theme_dark", tr("Theme: dark"), ThemeChoice::dark}}) {
    QAction* const action = named(view_->addAction(theme.title), theme.name);
    action->setCheckable(true);
    action->setChecked(theme.choice == chosen_theme());
    group->addAction(action);
    connect(action, &QAction::triggered, this, [choice = theme.choice] { choose_theme(choice); });
  }
}

void MainWindow::list_recent() {
  recent_->clear();
  for (const QString& name : recent_names())
    recent_->addAction(name, this, [this, name] { session_.open(source_of({name})); });
  recent_->setDisabled(recent_->isEmpty());
}

void MainWindow::ask_for_files() {
  auto* const dialog = new QFileDialog(this, tr("Open a pack or traces"), {},
                                       tr("Packs and traces (*.tar.zst *.json *.json.gz *.sqlite);;All files (*)"));
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setFileMode(QFileDialog::ExistingFiles);
  connect(dialog, &QFileDialog::filesSelected, this,
          [this](const QStringList& names) { session_.open(source_of(names)); });
  dialog->open();
}

void MainWindow::ask_for_folder() {
  auto* const dialog = make_folder_dialog(this, tr("Open a recording (NAME.rankscope)"));
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& name) { session_.open(source_of({name})); });
  dialog->open();
}

}  // namespace rankscope::gui
