// A job that is recorded: its log and what can be told of it, then how it ended.
#pragma once

#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTimer>
#include <QWidget>

#include "rankscope/gui/models/record/live_preview.h"
#include "rankscope/gui/models/record/live_table.h"
#include "rankscope/gui/models/record/record_run.h"

namespace rankscope::gui {

class RecordRunPage : public QWidget {
  Q_OBJECT

 public:
  RecordRunPage(RecordRun& run, LivePreview& preview, QWidget* parent = nullptr);

 Q_SIGNALS:
  void openRequested();
  void backRequested();
  void closeRequested();

 private:
  QWidget* make_preview();
  QWidget* make_log();
  QWidget* make_buttons();
  void show_stage();
  void show_elapsed();
  void show_log();

  RecordRun& run_;
  LivePreview& preview_;
  LiveTable table_;
  QLabel* sentence_ = nullptr;
  QLabel* elapsed_ = nullptr;
  QLabel* note_ = nullptr;
  QPlainTextEdit* log_ = nullptr;
  QPushButton* stop_ = nullptr;
  QPushButton* kill_ = nullptr;
  QPushButton* open_ = nullptr;
  QPushButton* back_ = nullptr;
  std::uint64_t shown_ = 0;  ///< lines of the log that stand there, those included that have gone
  QTimer second_;
};

}  // namespace rankscope::gui
