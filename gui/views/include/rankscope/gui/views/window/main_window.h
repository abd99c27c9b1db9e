// The window: the timeline in the centre, panels docked around it.
#pragma once

#include <QLabel>
#include <QLineEdit>
#include <QMainWindow>
#include <QProgressBar>
#include <QPushButton>
#include <filesystem>

#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

class Banner;
class PanelSwitch;
class RecordDialog;
class TimelineView;
class ViewKeeper;

/// Opens what is dropped on it or chosen in its menu. The session outlives it.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(Session& session, QWidget* parent = nullptr);

  [[nodiscard]] TimelineView& timeline() { return *timeline_; }
  /// As if it was typed: "0,2,4-7".
  void choose_ranks(const QString& ranks) { ranks_->setText(ranks); }
  /// A sentence above the timeline, below what is there already; it stays until it is closed, or another recording is
  /// shown.
  void warn(const QString& sentence);
  /// The file to keep the view in, in place of the one beside the recording that is opened next.
  void use_view_file(const std::filesystem::path& file);
  /// Shows the form, or the job that runs.
  void record();

 protected:
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void closeEvent(QCloseEvent* event) override;

 private:
  void make_docks();
  void place_docks();
  void share_room();
  /// All panels are open, as large and where they begin.
  void reset_layout();
  void make_menus();
  void make_file_menu();
  void make_themes();
  void make_tools();
  [[nodiscard]] QWidget* make_lanes_field(QWidget* parent);
  void make_status();
  void filter();
  void show_panel(const QString& id);
  void list_recent();
  void ask_for_files();
  void ask_for_folder();
  /// False: a job runs, and the user is asked what is to become of it.
  bool let_close();
  void show_state();
  void show_banner();
  void take_opened();

  Session& session_;
  TimelineView* timeline_ = nullptr;
  QLineEdit* search_ = nullptr;
  QLineEdit* ranks_ = nullptr;
  QLineEdit* lanes_ = nullptr;
  Banner* banner_ = nullptr;
  QStringList warnings_;  ///< of the run that is shown
  QString failure_;       ///< why another one could not be opened; until the next is tried
  QLabel* status_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QMenu* recent_ = nullptr;
  QMenu* view_ = nullptr;
  ViewKeeper* keeper_ = nullptr;
  PanelSwitch* panels_ = nullptr;
  RecordDialog* record_ = nullptr;  ///< none until it is asked for
  bool closes_after_job_ = false;
};

}  // namespace rankscope::gui
