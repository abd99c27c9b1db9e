#include "record/record_run_page.h"

#include <QFontDatabase>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QSplitter>
#include <QTabWidget>
#include <QTableView>
#include <QTextBlock>
#include <QVBoxLayout>
#include <algorithm>

#include "base/panel_parts.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "record/live_chart.h"

namespace rankscope::gui {
namespace {

/// "1:02:03"
QString clock_text(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return qt_text(format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60));
}

}  // namespace

RecordRunPage::RecordRunPage(RecordRun& run, LivePreview& preview, QWidget* parent)
    : QWidget(parent), run_(run), preview_(preview), table_(preview) {
  auto* const head = new QHBoxLayout;
  sentence_ = new QLabel(this);
  sentence_->setObjectName(QStringLiteral("run_sentence"));
  sentence_->setWordWrap(true);
  elapsed_ = new QLabel(this);
  elapsed_->setObjectName(QStringLiteral("elapsed"));
  head->addWidget(sentence_, 1);
  head->addWidget(elapsed_);
  auto* const parts = new QSplitter(Qt::Vertical, this);
  parts->addWidget(make_preview());
  parts->addWidget(make_log());
  parts->setStretchFactor(0, 3);
  parts->setStretchFactor(1, 2);
  auto* const rows = new QVBoxLayout(this);
  rows->addLayout(head);
  rows->addWidget(parts, 1);
  rows->addWidget(make_buttons());
  setFocusProxy(stop_);
  second_.setInterval(500);
  connect(&second_, &QTimer::timeout, this, &RecordRunPage::show_elapsed);
  connect(&run, &RecordRun::stageChanged, this, &RecordRunPage::show_stage);
  connect(&run, &RecordRun::logged, this, &RecordRunPage::show_log);
  connect(&preview, &LivePreview::changed, this, [this] { note_->setText(note_of(*preview_.view())); });
  show_stage();
}

QWidget* RecordRunPage::make_preview() {
  auto* const part = new QWidget(this);
  auto* const rows = new QVBoxLayout(part);
  rows->setContentsMargins(0, 0, 0, 0);
  note_ = new QLabel(part);
  note_->setObjectName(QStringLiteral("live_note"));
  note_->setWordWrap(true);
  auto* const tabs = new QTabWidget(part);
  tabs->setAccessibleName(tr("Preview"));
  tabs->addTab(new LiveChart(preview_, tabs), tr("&Preview"));
  auto* const table = new QTableView(tabs);
  set_up_table(*table, table_, tr("Processes and their latest steps"), QStringLiteral("live_table"));
  tabs->addTab(table, tr("&Table"));
  rows->addWidget(note_);
  rows->addWidget(tabs, 1);
  return part;
}

QWidget* RecordRunPage::make_log() {
  log_ = new QPlainTextEdit(this);
  log_->setObjectName(QStringLiteral("record_log"));
  log_->setAccessibleName(tr("Log of the command"));
  log_->setReadOnly(true);
  log_->setTabChangesFocus(true);
  log_->setUndoRedoEnabled(false);
  log_->setMaximumBlockCount(static_cast<int>(LogTail::most_lines) + 1);
  log_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  log_->setLineWrapMode(QPlainTextEdit::NoWrap);
  return log_;
}

QWidget* RecordRunPage::make_buttons() {
  auto* const part = new QWidget(this);
  auto* const row = new QHBoxLayout(part);
  row->setContentsMargins(0, 0, 0, 0);
  row->addStretch(1);
  const auto button = [&](const char* name, const QString& title) {
    auto* const one = new QPushButton(title, part);
    one->setObjectName(QLatin1String{name});
    one->setAutoDefault(false);
    row->addWidget(one);
    return one;
  };
  stop_ = button("stop", tr("&Stop"));
  kill_ = button("kill", tr("&Kill"));
  kill_->setToolTip(tr("Ends all processes of the job immediately; the events recorded so far are kept."));
  open_ = button("open_recorded", tr("&Open the recording"));
  back_ = button("back", tr("&Back to the form"));
  QPushButton* const close = button("close_run", tr("Close"));
  connect(stop_, &QPushButton::clicked, &run_, &RecordRun::stop);
  connect(kill_, &QPushButton::clicked, &run_, &RecordRun::kill_all);
  connect(open_, &QPushButton::clicked, this, &RecordRunPage::openRequested);
  connect(back_, &QPushButton::clicked, this, &RecordRunPage::backRequested);
  connect(close, &QPushButton::clicked, this, &RecordRunPage::closeRequested);
  return part;
}

void RecordRunPage::show_stage() {
  const RunStage stage = run_.stage();
  sentence_->setText(run_.sentence());
  stop_->setVisible(run_.is_running());
  stop_->setToolTip(stage == RunStage::stopping ? tr("Send SIGTERM to the job")
                                                : tr("Ask the job to end, as Ctrl-C does"));
  kill_->setVisible(stage == RunStage::stopping);
  open_->setVisible(run_.has_recording());
  back_->setVisible(stage == RunStage::ended);
  run_.is_running() ? second_.start() : second_.stop();
  show_elapsed();
  show_log();
}

void RecordRunPage::show_elapsed() { elapsed_->setText(clock_text(run_.elapsed())); }

/// Appends what is new, and replaces the line that was open; follows the end unless the user has scrolled away from it.
void RecordRunPage::show_log() {
  const LogTail& log = run_.log();
  if (log.end() < shown_ || (shown_ > 0 && log.end() == 0)) {  // of another run
    log_->clear();
    shown_ = 0;
  }
  QScrollBar* const bar = log_->verticalScrollBar();
  const int place = bar->value();
  const bool follows = place >= bar->maximum();
  QStringList fresh;
  for (std::uint64_t line = std::max(shown_, log.first()); line < log.end(); ++line)
    fresh.push_back(log.lines()[line - log.first()]);
  fresh.push_back(log.open_line());
  shown_ = log.end();
  QTextCursor cursor{log_->document()};
  cursor.movePosition(QTextCursor::End);
  cursor.movePosition(QTextCursor::StartOfBlock, QTextCursor::KeepAnchor);
  cursor.insertText(fresh.join(QLatin1Char{'\n'}));
  bar->setValue(follows ? bar->maximum() : place);
}

}  // namespace rankscope::gui
