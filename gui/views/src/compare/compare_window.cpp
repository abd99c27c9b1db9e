#include "rankscope/gui/views/compare/compare_window.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QMenuBar>
#include <QSplitter>
#include <QStatusBar>
#include <QToolBar>
#include <QVBoxLayout>
#include <algorithm>
#include <array>

#include "base/banner.h"
#include "base/dialogs.h"
#include "base/panel_parts.h"
#include "base/save_dialog.h"
#include "base/shades.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/rank_choice.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "rankscope/gui/views/window/picture_file.h"
#include "timeline/commands.h"
#include "window/command_palette.h"
#include "window/help_pages.h"
#include "window/panel_switch.h"
#include "window/view_keeper.h"
#include "window/window_keys.h"

namespace rankscope::gui {
namespace {

constexpr std::size_t all_losses = counter_count;  // this window has no panel of data quality

/// Commands that a window of two runs has nothing for.
constexpr std::array not_here{"note", "export", "record", "pivot", "operators", "memory", "pipeline"};

QString name_of(const Session& session) {
  const auto& paths = session.source().paths;
  return paths.empty() ? QString{} : QString::fromStdString(paths.front().filename().string());
}

}  // namespace

CompareWindow::CompareWindow(Session& a, Session& b, QWidget* parent)
    : QMainWindow(parent), a_(a), b_(b), link_(a, b), comparison_(a, b, link_), panels_(new PanelSwitch(*this)) {
  auto* const centre = new QWidget(this);
  auto* const rows = new QVBoxLayout(centre);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  banner_ = new Banner(centre);
  auto* const runs = new QSplitter(Qt::Vertical, centre);
  timeline_a_ = add_run(QStringLiteral("A"), a, runs);
  timeline_b_ = add_run(QStringLiteral("B"), b, runs);
  rows->addWidget(banner_);
  rows->addWidget(runs, 1);
  setCentralWidget(centre);
  searched_ = timeline_a_;
  make_table();
  make_menus();
  for (Session* const session : {&a, &b}) {
    connect(session, &Session::runOpened, this, &CompareWindow::show_names);
    connect(session, &Session::runOpened, this, &CompareWindow::filter);
    // A timeline searches, too: the field says what is lit, in both.
    connect(session, &Session::filterChanged, search_, [this, session] {
      const QString text = QString::fromStdString(session->filter().text);
      if (search_->text() != text) search_->setText(text);
    });
    connect(session, &Session::failed, this, [this](const QString& sentence) {
      const QString other = banner_->text();
      banner_->say(other.isEmpty() ? sentence : other + QLatin1Char{'\n'} + sentence);
    });
  }
  keep_views();
  show_names();
  new WindowKeys(*this, {timeline_a_, timeline_b_});
  open_large(*this);
  resizeDocks({findChild<QDockWidget*>()}, {height() * 27 / 100}, Qt::Vertical);
}

/// Its name, and its timeline below it.
TimelineView* CompareWindow::add_run(const QString& label, Session& session, QWidget* parent) {
  auto* const part = new QWidget(parent);
  auto* const rows = new QVBoxLayout(part);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  auto* const name = new QLabel(label, part);
  name->setMargin(3);
  auto* const timeline = new TimelineView(session, part);
  timeline->setAccessibleName(tr("Timeline of %1").arg(label));
  for (const char* const command : not_here)
    timeline->findChild<QAction*>(QString::fromLatin1(command))->setVisible(false);
  auto* const missing = new Banner(part);
  rows->addWidget(name);
  rows->addWidget(missing);
  rows->addWidget(timeline, 1);
  connect(&session, &Session::runOpened, name, [name, missing, label, &session] {
    name->setText(tr("<b>%1</b>&nbsp; %2").arg(label, gui::name_of(session).toHtmlEscaped()));
    missing->say(missing_text(*session.run(), all_losses));
  });
  connect(&timeline->navigator(), &Navigator::said, this, [this, label](const QString& sentence) {
    statusBar()->showMessage(label + QStringLiteral(": ") + sentence, 8000);
  });
  connect(timeline, &TimelineView::helpRequested, this, [timeline] { show_keys(*timeline); });
  connect(timeline, &TimelineView::paletteRequested, this,
          [this, timeline] { show_command_palette(*this, timeline->actions()); });
  connect(timeline, &TimelineView::trackSearchRequested, this, [this] { ranks_->setFocus(); });
  connect(timeline, &TimelineView::ranksChosen, this, &CompareWindow::choose_ranks);
  connect(timeline, &TimelineView::lanesChosen, this, [this](const QString& lanes) {
    for (TimelineView* const one : {timeline_a_, timeline_b_}) one->model().choose_lanes(lanes.toStdString());
  });
  connect(timeline, &TimelineView::pictureRequested, this, &CompareWindow::ask_for_picture);
  connect(timeline, &TimelineView::searchRequested, this, [this, timeline] {
    searched_ = timeline;
    search_->setFocus();
    search_->selectAll();
  });
  connect(timeline, &TimelineView::panelsToggled, this, [this, timeline] { panels_->toggle(*timeline); });
  return timeline;
}

void CompareWindow::make_table() {
  auto* const dock = new QDockWidget(tr("What changed from A to B"), this);
  dock->setObjectName(QStringLiteral("comparison"));
  auto* const content = new QWidget(dock);
  auto* const rows = new QVBoxLayout(content);
  rows->setContentsMargins(4, 4, 4, 4);
  doubts_ = new QLabel(content);
  doubts_->setObjectName(QStringLiteral("comparison_doubts"));
  doubts_->setWordWrap(true);
  doubts_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  verdict_ = new QLabel(content);
  verdict_->setObjectName(QStringLiteral("comparison_verdict"));
  verdict_->setWordWrap(true);
  QFont strong = verdict_->font();
  strong.setBold(true);
  verdict_->setFont(strong);
  table_ = new QTableView(content);
  set_up_table(*table_, comparison_, tr("What changed from A to B"), QStringLiteral("comparison_table"));
  table_->horizontalHeader()->setSectionResizeMode(ComparisonModel::what, QHeaderView::Stretch);
  on_choice(*table_, this, [this](const QModelIndex& index) { comparison_.go_to(index.row()); });
  rows->addWidget(doubts_);
  rows->addWidget(verdict_);
  rows->addWidget(table_, 1);
  dock->setWidget(content);
  addDockWidget(Qt::BottomDockWidgetArea, dock);
  const auto show_verdict = [this] {
    doubts_->setText(comparison_.doubts());
    doubts_->setVisible(!comparison_.doubts().isEmpty());
    verdict_->setText(comparison_.verdict());
  };
  connect(&comparison_, &ComparisonModel::compared, this, show_verdict);
  show_verdict();
}

void CompareWindow::make_menus() {
  QToolBar* const bar = addToolBar(tr("Tools"));
  bar->setObjectName(QStringLiteral("tools"));
  bar->setMovable(false);
  search_ = new QLineEdit(bar);
  search_->setObjectName(QStringLiteral("search"));
  search_->setPlaceholderText(tr("Search names in both runs ( / )"));
  search_->setAccessibleName(tr("Search names in both runs; Return goes to the next match"));
  search_->setClearButtonEnabled(true);
  bar->addWidget(search_);
  connect(search_, &QLineEdit::textChanged, this, &CompareWindow::filter);
  connect(search_, &QLineEdit::returnPressed, this, [this] {
    searched_->navigator().next_match(Direction::forward);
    searched_->setFocus();
  });
  ranks_ = new QLineEdit(bar);
  ranks_->setObjectName(QStringLiteral("ranks"));
  ranks_->setPlaceholderText(tr("Ranks of both runs: all (or 0,2,4-7)"));
  ranks_->setAccessibleName(tr("Only these ranks of both runs"));
  ranks_->setClearButtonEnabled(true);
  wrong_ranks_ = new QLabel(bar);
  wrong_ranks_->setObjectName(QStringLiteral("wrong_ranks"));
  wrong_ranks_->setMargin(4);
  bar->addWidget(ranks_);
  bar->addWidget(wrong_ranks_);
  connect(ranks_, &QLineEdit::textChanged, this, &CompareWindow::filter);
  QMenu* const file = menuBar()->addMenu(tr("&File"));
  for (Session* const session : {&a_, &b_})
    file->addAction(tr("Open recording as &%1...").arg(session == &a_ ? QLatin1Char{'A'} : QLatin1Char{'B'}), this,
                    [this, session] { ask_for_run(*session); });
  file->addSeparator();
  for (const char* const name : {"save_view", "picture"})
    file->addAction(timeline_a_->findChild<QAction*>(QString::fromLatin1(name)));
  file->addSeparator();
  file->addAction(tr("&Quit"), QKeySequence::Quit, this, &QWidget::close);
  fill_timeline_menu(*menuBar()->addMenu(tr("Timeline &A")), *timeline_a_);
  fill_timeline_menu(*menuBar()->addMenu(tr("Timeline &B")), *timeline_b_);
  QMenu* const help = menuBar()->addMenu(tr("&Help"));
  help->addAction(tr("What the &colours mean"), this, [this] { show_legend(*this); });
  help->addAction(tr("&Documentation"), this, [this] { show_docs(*this); });
  help->addAction(tr("&About rankscope"), this, [this] { show_about(*this); });
}

void CompareWindow::ask_for_run(Session& session) {
  auto* const dialog = make_folder_dialog(this, tr("Open a recording (NAME.rankscope)"));
  connect(dialog, &QFileDialog::fileSelected, this, [this, &session](const QString& name) {
    banner_->say({});
    session.open({.paths = {name.toStdString()}});
  });
  dialog->open();
}

/// Each beside its recording; one key saves both.
void CompareWindow::keep_views() {
  const auto add = [this](Session& session, TimelineView& timeline) {
    return new ViewKeeper(session, {.window = *this, .timeline = timeline, .warn = [this](const QString& sentence) {
                                      const QString other = banner_->text();
                                      banner_->say(other.isEmpty() ? sentence : other + QLatin1Char{'\n'} + sentence);
                                    }});
  };
  keepers_ = {add(a_, *timeline_a_), add(b_, *timeline_b_)};
  connect(timeline_a_, &TimelineView::viewSaveRequested, this, [this] { keepers_[1]->save(); });
  connect(timeline_b_, &TimelineView::viewSaveRequested, this, [this] { keepers_[0]->save(); });
}

/// Both timelines, with the names of their runs.
void CompareWindow::ask_for_picture() {
  auto* const dialog =
      make_save_dialog(*this, tr("Save a picture"), {tr("Picture (*.png)"), tr("Drawing with text (*.svg)")});
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& name) {
    const std::array parts{PicturePart{timeline_a_, tr("A  %1").arg(gui::name_of(a_))},
                           PicturePart{timeline_b_, tr("B  %1").arg(gui::name_of(b_))}};
    const auto saved = save_picture(parts, name.toStdString());
    saved ? statusBar()->showMessage(tr("Saved %1").arg(name), 8000) : banner_->say(qt_text(saved.error().message));
  });
  dialog->open();
}

/// Ranks that a run does not have are left out there; where it has none of them, that is said and its ranks stay.
void CompareWindow::filter() {
  const auto chosen = ranks_from(ranks_->text().toStdString(), "ranks");
  QStringList wrong;
  if (!chosen) wrong.push_back(qt_text(chosen.error().message));
  for (Session* const session : {&a_, &b_}) {
    if (session->run() == nullptr) continue;
    Filter filter = session->filter();
    filter.text = search_->text().toStdString();
    if (chosen) {
      std::vector<RankId> ranks;
      for (const RankId rank : *chosen)
        if (std::ranges::binary_search(session->run()->ranks(), rank)) ranks.push_back(rank);
      if (ranks.empty() && !chosen->empty()) {
        const auto there = analyzer::check_ranks(*session->run(), *chosen, session == &a_ ? "A" : "B");
        wrong.push_back(qt_text(there.error().message));
      } else {
        filter.ranks = std::move(ranks);
      }
    }
    session->set_filter(std::move(filter));
  }
  ranks_->setStyleSheet(wrong.empty() ? QString{}
                                      : QStringLiteral("QLineEdit { color: %1; }").arg(wrong_colour(palette()).name()));
  wrong_ranks_->setText(wrong.join(QLatin1Char{'\n'}));
  ranks_->setAccessibleDescription(wrong_ranks_->text());
}

void CompareWindow::show_names() {
  const bool both = a_.run() != nullptr && b_.run() != nullptr;
  setWindowTitle(both ? tr("%1 and %2 - rankscope").arg(gui::name_of(a_), gui::name_of(b_))
                      : tr("Compare - rankscope"));
}

void CompareWindow::closeEvent(QCloseEvent* event) {
  for (ViewKeeper* const keeper : keepers_) keeper->keep();
  a_.stop();
  b_.stop();
  QMainWindow::closeEvent(event);
}

}  // namespace rankscope::gui
