#include "rankscope/gui/views/window/main_window.h"

#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMenuBar>
#include <QMimeData>
#include <QScrollArea>
#include <QSettings>
#include <QStatusBar>
#include <QTabBar>
#include <QToolBar>
#include <QVBoxLayout>

#include "base/banner.h"
#include "base/dialogs.h"
#include "base/shades.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/clock_words.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/rank_choice.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/report/findings_model.h"
#include "rankscope/gui/views/record/record_dialog.h"
#include "rankscope/gui/views/registry.h"
#include "rankscope/gui/views/timeline/timeline_view.h"
#include "search/search_count.h"
#include "timeline/commands.h"
#include "window/command_palette.h"
#include "window/panel_switch.h"
#include "window/sources.h"
#include "window/start_page.h"
#include "window/timeline_requests.h"
#include "window/view_keeper.h"
#include "window/window_keys.h"

namespace rankscope::gui {
namespace {

constexpr std::size_t most_losses = 3;
constexpr int shown_ms = 8000;
const QString geometry_key = QStringLiteral("window/geometry");
const QString docks_key = QStringLiteral("window/docks");

Result<std::vector<RankId>> ranks_of(const Run* run, std::string_view text) {
  RS_TRY(auto chosen, ranks_from(text, "ranks"));
  if (chosen.empty()) return chosen;
  if (run == nullptr) return fail(ErrorKind::usage, "ranks: open a recording first");
  RS_TRY_VOID(analyzer::check_ranks(*run, chosen, "ranks"));
  return chosen;
}

/// Names on tabs are not cut; where there is no room for all, arrows scroll them.
class WholeTabs : public QObject {
 public:
  explicit WholeTabs(QMainWindow& window) : QObject(&window) { window.installEventFilter(this); }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() == QEvent::ChildPolished)
      if (auto* const tabs = qobject_cast<QTabBar*>(static_cast<QChildEvent*>(event)->child())) {
        tabs->setElideMode(Qt::ElideNone);
        tabs->setUsesScrollButtons(true);
      }
    return QObject::eventFilter(watched, event);
  }
};

/// A panel may be smaller than its content, and does not change its size with it.
QWidget* in_scroll_area(QWidget* panel, QWidget* parent) {
  auto* const area = new QScrollArea(parent);
  area->setWidget(panel);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setFocusPolicy(Qt::NoFocus);
  area->setFocusProxy(panel);
  return area;
}

}  // namespace

MainWindow::MainWindow(Session& session, QWidget* parent) : QMainWindow(parent), session_(session) {
  setWindowTitle(QStringLiteral("rankscope"));
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  auto* const centre = new QWidget(this);
  auto* const rows = new QVBoxLayout(centre);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(0);
  banner_ = new Banner(centre);
  connect(banner_, &Banner::closed, this, [this] {
    warnings_.clear();
    failure_.clear();
  });
  timeline_ = new TimelineView(session, centre);
  rows->addWidget(banner_);
  rows->addWidget(timeline_, 1);
  setCentralWidget(centre);
  timeline_->setFocus();
  make_docks();
  make_tools();
  make_menus();
  make_status();
  auto* const start = new StartPage(session, *timeline_);
  connect(start, &StartPage::folderRequested, this, &MainWindow::ask_for_folder);
  connect(start, &StartPage::filesRequested, this, &MainWindow::ask_for_files);
  connect(start, &StartPage::recordRequested, this, &MainWindow::record);
  connect(&session, &Session::stateChanged, this, &MainWindow::show_state);
  connect(&session, &Session::runOpened, this, &MainWindow::take_opened);
  connect(&session, &Session::progressed, this,
          [this](double share) { progress_->setValue(static_cast<int>(share * 100)); });
  connect(&session, &Session::failed, this, [this](const QString& message) {
    failure_ = message;
    show_banner();
  });
  connect(&session, &Session::reportChanged, this, [this] { show_first_sight(session_); });
  keeper_ = new ViewKeeper(session, {.window = *this,  // what was saved counts more
                                     .timeline = *timeline_,
                                     .warn = [this](const QString& sentence) { warn(sentence); },
                                     .choose_ranks = [this](const QString& ranks) { choose_ranks(ranks); }});
  new TimelineRequests(session, *this);
  new WindowKeys(*this, {timeline_});
  open_large(*this);
  share_room();
  const QSettings settings;
  restoreGeometry(settings.value(geometry_key).toByteArray());
  restoreState(settings.value(docks_key).toByteArray());
  show_state();
}

void MainWindow::use_view_file(const std::filesystem::path& file) { keeper_->use(file); }

void MainWindow::warn(const QString& sentence) {
  if (!warnings_.contains(sentence)) warnings_.push_back(sentence);
  show_banner();
}

void MainWindow::show_banner() {
  QStringList sentences = warnings_;
  if (!failure_.isEmpty()) sentences.push_back(failure_);
  banner_->say(sentences.join(QLatin1Char{'\n'}));
}

void MainWindow::make_docks() {
  view_ = new QMenu(tr("&View"), this);
  new WholeTabs(*this);
  for (const PanelInfo& panel : panels()) {
    auto* const dock = new QDockWidget(qt_text(panel.title), this);
    dock->setObjectName(qt_text(panel.id));
    QWidget* const content = panel.make(session_, dock);
    content->setAccessibleName(qt_text(panel.title));
    dock->setWidget(in_scroll_area(content, dock));
    view_->addAction(dock->toggleViewAction());
  }
  place_docks();
}

/// All of them, where they begin.
void MainWindow::place_docks() {
  for (const PanelInfo& panel : panels()) {
    auto* const dock = findChild<QDockWidget*>(qt_text(panel.id));
    dock->setFloating(false);
    addDockWidget(panel.area, dock);
    if (!panel.beside.empty()) tabifyDockWidget(findChild<QDockWidget*>(qt_text(panel.beside)), dock);
    dock->show();
  }
  for (const PanelInfo& panel : panels())
    if (panel.beside.empty()) findChild<QDockWidget*>(qt_text(panel.id))->raise();
}

void MainWindow::reset_layout() {
  place_docks();
  share_room();
  panels_->forget();
}

/// A finding is a sentence, and read first; rows of details are not to be wrapped.
void MainWindow::share_room() {
  QList<QDockWidget*> docks;
  for (const char* const id : {"findings", "step_map", "statistics"})
    docks.push_back(findChild<QDockWidget*>(QString::fromLatin1(id)));
  resizeDocks(docks, {width() * 40 / 100, width() * 20 / 100, width() * 40 / 100}, Qt::Horizontal);
  resizeDocks({findChild<QDockWidget*>(QStringLiteral("details"))}, {width() * 21 / 100}, Qt::Horizontal);
  resizeDocks(docks, QList<int>(docks.size(), height() * 32 / 100), Qt::Vertical);
}

void MainWindow::make_tools() {
  QToolBar* const bar = addToolBar(tr("Tools"));
  bar->setObjectName(QStringLiteral("tools"));
  bar->setMovable(false);
  search_ = new QLineEdit(bar);
  search_->setObjectName(QStringLiteral("search"));
  search_->setPlaceholderText(tr("Search names ( / )"));
  search_->setAccessibleName(tr("Search names; Return goes to the next match"));
  search_->setClearButtonEnabled(true);
  ranks_ = new QLineEdit(bar);
  ranks_->setObjectName(QStringLiteral("ranks"));
  ranks_->setPlaceholderText(tr("Ranks: all (or 0,2,4-7)"));
  ranks_->setAccessibleName(tr("Only these ranks"));
  ranks_->setClearButtonEnabled(true);
  ranks_->setMaximumWidth(200);
  auto* const colours = new QComboBox(bar);
  colours->setObjectName(QStringLiteral("colours"));
  colours->setAccessibleName(tr("Colours"));
  colours->addItems({tr("Colour by kind"), tr("Colour by name"), tr("Colour by lateness")});
  bar->addWidget(search_);
  bar->addWidget(new SearchCount(session_, bar));
  bar->addWidget(ranks_);
  bar->addWidget(make_lanes_field(bar));
  bar->addWidget(colours);
  connect(search_, &QLineEdit::textChanged, this, &MainWindow::filter);
  connect(ranks_, &QLineEdit::textChanged, this, &MainWindow::filter);
  connect(search_, &QLineEdit::returnPressed, this, [this] {
    timeline_->navigator().next_match(Direction::forward);
    timeline_->setFocus();
  });
  connect(colours, &QComboBox::activated, this,
          [this](int index) { timeline_->set_colouring(static_cast<Colouring>(index)); });
  connect(timeline_, &TimelineView::colouringChanged, colours,
          [this, colours] { colours->setCurrentIndex(static_cast<int>(timeline_->colouring())); });
  connect(timeline_, &TimelineView::searchRequested, search_, [this] {
    search_->setFocus();
    search_->selectAll();
  });
  connect(timeline_, &TimelineView::trackSearchRequested, ranks_, [this] { ranks_->setFocus(); });
  connect(timeline_, &TimelineView::ranksChosen, this, &MainWindow::choose_ranks);
  connect(timeline_, &TimelineView::helpRequested, this, [this] { show_keys(*timeline_); });
  connect(timeline_, &TimelineView::paletteRequested, this,
          [this] { show_command_palette(*this, actions_of(*menuBar())); });
  panels_ = new PanelSwitch(*this);
  connect(timeline_, &TimelineView::panelsToggled, panels_, [this] { panels_->toggle(*timeline_); });
  connect(timeline_, &TimelineView::panelRequested, this, &MainWindow::show_panel);
  connect(timeline_, &TimelineView::recordRequested, this, &MainWindow::record);
  // Panels search, too: the field says what is lit.
  connect(&session_, &Session::filterChanged, search_, [this] {
    const QString text = QString::fromStdString(session_.filter().text);
    if (search_->text() != text) search_->setText(text);
  });
}

QWidget* MainWindow::make_lanes_field(QWidget* parent) {
  lanes_ = new QLineEdit(parent);
  lanes_->setObjectName(QStringLiteral("lanes"));
  lanes_->setPlaceholderText(tr("Lanes: all (or a part of their names)"));
  lanes_->setAccessibleName(tr("Only lanes and counters whose names contain this"));
  lanes_->setClearButtonEnabled(true);
  lanes_->setMaximumWidth(200);
  connect(lanes_, &QLineEdit::textChanged, this,
          [this](const QString& text) { timeline_->model().choose_lanes(text.toStdString()); });
  connect(timeline_, &TimelineView::lanesChosen, lanes_, &QLineEdit::setText);
  return lanes_;
}

/// Ranks that cannot be read, or that the run does not have, are said in the status bar and change nothing.
void MainWindow::filter() {
  const auto chosen = ranks_of(session_.run().get(), ranks_->text().toStdString());
  const QString wrong = chosen ? QString{} : QString::fromStdString(chosen.error().message);
  ranks_->setStyleSheet(chosen ? QString{}
                               : QStringLiteral("QLineEdit { color: %1; }").arg(wrong_colour(palette()).name()));
  ranks_->setToolTip(wrong);
  ranks_->setAccessibleDescription(wrong);
  session_.set_filter({.ranks = chosen ? *chosen : session_.filter().ranks, .text = search_->text().toStdString()});
  show_state();
}

void MainWindow::show_panel(const QString& id) {
  auto* const dock = findChild<QDockWidget*>(id);
  if (dock == nullptr) return;
  dock->show();
  dock->raise();
  dock->widget()->setFocus(Qt::ShortcutFocusReason);
}

void MainWindow::make_status() {
  status_ = new QLabel(this);
  status_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // a long sentence does not widen the window
  progress_ = new QProgressBar(this);
  progress_->setRange(0, 100);
  progress_->setMaximumWidth(200);
  progress_->setAccessibleName(tr("Progress of reading"));
  cancel_ = new QPushButton(tr("Cancel"), this);
  cancel_->setObjectName(QStringLiteral("cancel"));
  statusBar()->addWidget(status_, 1);
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_);
  connect(cancel_, &QPushButton::clicked, &session_, &Session::cancel);
  connect(&timeline_->navigator(), &Navigator::said, this,
          [this](const QString& sentence) { statusBar()->showMessage(sentence, shown_ms); });
}

void MainWindow::show_state() {
  const LoadState state = session_.state();
  const bool busy = state == LoadState::reading || state == LoadState::analyzing;
  progress_->setVisible(busy);
  progress_->setRange(0, state == LoadState::reading ? 100 : 0);  // 0 to 0: nobody knows how long
  cancel_->setVisible(busy);
  switch (state) {
    case LoadState::nothing:
      return status_->setText(tr("Nothing is open."));
    case LoadState::reading:
      failure_.clear();
      show_banner();
      return status_->setText(tr("Reading..."));
    case LoadState::analyzing:
      return status_->setText(tr("Analyzing..."));
    case LoadState::ready:
      break;
  }
  if (const QString wrong = ranks_->toolTip(); !wrong.isEmpty()) return status_->setText(wrong);
  const Run& run = *session_.run();
  status_->setText(
      qt_text(format("{}, {}, {}, {}", counted(run.ranks().size(), "rank"), counted(run.spans().size(), "event"),
                     counted(run.samples().size(), "sample"), clock_words(run.info().clock))));
}

void MainWindow::take_opened() {
  search_->clear();
  ranks_->clear();
  lanes_->clear();
  failure_.clear();
  warnings_.clear();
  if (const QString missing = missing_text(*session_.run(), most_losses); !missing.isEmpty())
    warnings_.push_back(missing);
  show_banner();
  const auto& paths = session_.source().paths;
  if (paths.empty()) return;
  const QFileInfo first{QString::fromStdString(paths.front().string())};
  setWindowTitle(QStringLiteral("%1 - rankscope").arg(first.fileName()));
  paths.size() == 1 ? note_recent(first.absoluteFilePath()) : forget_recent(first.absoluteFilePath());
}

void MainWindow::record() {
  if (record_ == nullptr) {
    record_ = new RecordDialog(find_rankscope(), this);
    connect(record_, &RecordDialog::openRequested, this, [this](const QString& name) {
      record_->hide();
      activateWindow();
      session_.open(source_of({name}));
    });
    connect(record_, &RecordDialog::closable, this, [this] {
      if (closes_after_job_) close();
    });
    connect(record_, &RecordDialog::staysOpen, this, [this] { closes_after_job_ = false; });
  }
  record_->show_form();
  record_->show();
  record_->raise();
  record_->activateWindow();
}

bool MainWindow::let_close() {
  closes_after_job_ = record_ != nullptr && !record_->let_close();
  return !closes_after_job_;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList names;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) names.push_back(url.toLocalFile());
  if (names.isEmpty()) return;
  event->acceptProposedAction();
  session_.open(source_of(names));
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!let_close()) return event->ignore();
  QSettings settings;
  settings.setValue(geometry_key, saveGeometry());
  settings.setValue(docks_key, saveState());
  keeper_->keep();
  session_.stop();
  QMainWindow::closeEvent(event);
}

}  // namespace rankscope::gui
