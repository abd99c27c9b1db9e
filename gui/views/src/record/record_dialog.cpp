#include "rankscope/gui/views/record/record_dialog.h"

#include <QCloseEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QSettings>
#include <QStandardPaths>
#include <QVBoxLayout>
#include <utility>

#include "base/dialogs.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/record/previous_recording.h"
#include "record/record_form_page.h"
#include "record/record_run_page.h"

namespace rankscope::gui {
namespace {

/// As a user types it: the name alone where PATH leads to this very program.
QString typed(const QString& program) {
  const QString name = QFileInfo{program}.fileName();
  const QString found = QStandardPaths::findExecutable(name);
  const bool is_same =
      !found.isEmpty() && QFileInfo{found}.canonicalFilePath() == QFileInfo{program}.canonicalFilePath();
  return is_same ? name : program;
}

struct Question {
  const char* name;
  QString text;
  QString yes;
};

/// Does not stop the program while it is open. `answered` is called with true for the button `yes`.
template <class Answered>
void ask(QWidget* parent, const Question& question, const Answered& answered) {
  auto* const box =
      new QMessageBox(QMessageBox::Question, RecordDialog::tr("Record"), question.text, QMessageBox::Cancel, parent);
  box->setObjectName(QLatin1String{question.name});
  box->setAttribute(Qt::WA_DeleteOnClose);
  auto* const accept = box->addButton(question.yes, QMessageBox::AcceptRole);
  box->setDefaultButton(QMessageBox::Cancel);
  QObject::connect(box, &QMessageBox::finished, parent,
                   [box, accept, answered] { answered(box->clickedButton() == accept); });
  box->open();
}

}  // namespace

RecordDialog::RecordDialog(Result<QString> program, QWidget* parent) : QDialog(parent), program_(std::move(program)) {
  setObjectName(QStringLiteral("record_dialog"));
  setWindowTitle(tr("Record"));
  form_ = new RecordFormPage(program_ ? typed(*program_) : QStringLiteral("rankscope"), this);
  page_ = new RecordRunPage(run_, preview_, this);
  pages_ = new QStackedWidget(this);
  pages_->addWidget(form_);
  pages_->addWidget(page_);
  auto* const rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->addWidget(pages_);
  QSettings settings;
  form_->set_form(kept_form(settings));
  if (!program_) form_->say(QString::fromStdString(program_.error().message));
  connect(form_, &RecordFormPage::startRequested, this, &RecordDialog::start);
  connect(form_, &RecordFormPage::closeRequested, this, &RecordDialog::reject);
  connect(page_, &RecordRunPage::closeRequested, this, &RecordDialog::reject);
  connect(page_, &RecordRunPage::openRequested, this, &RecordDialog::open_recording);
  connect(page_, &RecordRunPage::backRequested, this, &RecordDialog::show_form);
  connect(&run_, &RecordRun::ended, this, &RecordDialog::take_end);
  open_at(*this, {820, 760});
}

void RecordDialog::show_form() {
  if (run_.is_running() || pages_->currentWidget() == form_) return;
  RecordForm next = form_->form();
  next.out = free_name(next.out, next.folder);
  form_->set_form(next);
  pages_->setCurrentWidget(form_);
}

void RecordDialog::start() {
  if (!program_ || run_.is_running() || !form_->check()) return;
  const QString out = absolute_out(form_->form());
  if (in_the_way(out.toStdString()) == InTheWay::nothing) return start_now();
  ask(this, {"replace", tr("%1 already exists. Replace it with the new recording?").arg(out), tr("Replace it")},
      [this](bool yes) {
        if (yes) start_now();
      });
}

void RecordDialog::start_now() {
  const RecordForm form = form_->form();
  QSettings settings;
  keep(settings, form);
  const RecordJob job{*program_, arguments_of(form), form.folder, absolute_out(form)};
  form_->say({});
  if (const auto started = run_.start(job); !started)
    return form_->say(QString::fromStdString(started.error().message));
  if (run_.is_running()) preview_.start(job.out.toStdString());
  pages_->setCurrentWidget(page_);
  page_->setFocus();
}

void RecordDialog::take_end() {
  preview_.finish();
  if (std::exchange(closes_at_end_, false)) {
    hide();
    Q_EMIT closable();
    return;
  }
  if (run_.ended_well() && form_->form().open_at_end) open_recording();
}

void RecordDialog::open_recording() { Q_EMIT openRequested(run_.job().out); }

bool RecordDialog::let_close() {
  if (!run_.is_running()) return true;
  if (findChild<QMessageBox*>(QStringLiteral("stop_job")) != nullptr) return false;  // the user is asked already
  show();
  raise();
  ask(this, {"stop_job", tr("The job is still running. Stop it? The events recorded so far are kept."), tr("Stop it")},
      [this](bool yes) {
        if (!yes) return Q_EMIT staysOpen();
        closes_at_end_ = true;
        if (!run_.is_running()) return take_end();
        if (run_.stage() == RunStage::running) run_.stop();
      });
  return false;
}

void RecordDialog::closeEvent(QCloseEvent* event) { let_close() ? event->accept() : event->ignore(); }

void RecordDialog::reject() {
  if (let_close()) QDialog::reject();
}

}  // namespace rankscope::gui
