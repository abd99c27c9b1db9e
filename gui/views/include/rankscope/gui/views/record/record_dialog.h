// Recording from the viewer: a form, then the job while it runs.
#pragma once

#include <QDialog>
#include <QStackedWidget>

#include "rankscope/gui/models/record/live_preview.h"
#include "rankscope/gui/models/record/record_run.h"

namespace rankscope::gui {

class RecordFormPage;
class RecordRunPage;

/// Does not stop the window behind it. Keeps the form in the settings.
class RecordDialog : public QDialog {
  Q_OBJECT

 public:
  /// `program`: rankscope, or why there is none.
  explicit RecordDialog(Result<QString> program, QWidget* parent = nullptr);

  [[nodiscard]] const RecordRun& run() const { return run_; }
  /// In place of a job that has ended; one that runs stays.
  void show_form();
  /// True if nothing runs. Else the user is asked, and what follows is `closable`, once the job was stopped and has
  /// ended, or `staysOpen`.
  bool let_close();

 Q_SIGNALS:
  void openRequested(const QString& recording);
  void closable();
  void staysOpen();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void reject() override;

 private:
  void start();
  void start_now();
  void take_end();
  void open_recording();

  Result<QString> program_;
  RecordRun run_;
  LivePreview preview_;
  QStackedWidget* pages_ = nullptr;
  RecordFormPage* form_ = nullptr;
  RecordRunPage* page_ = nullptr;
  bool closes_at_end_ = false;
};

}  // namespace rankscope::gui
