// Keeps the view of a recording in a file beside it, and takes it from there.
#pragma once

#include <QMainWindow>
#include <QObject>
#include <filesystem>
#include <functional>
#include <optional>

#include "rankscope/gui/models/window/view_state.h"

namespace rankscope::gui {

class TimelineView;

/// Where a run is shown whose view is kept.
struct KeptPlace {
  QMainWindow& window;
  TimelineView& timeline;
  std::function<void(const QString& sentence)> warn;
  /// Of a window of several runs empty: which ranks and panels are shown is then not that of one run, and what the file
  /// says of them stays.
  std::function<void(const QString& ranks)> choose_ranks{};
};

/// Belongs to the window. A file that could not be read is never written over.
class ViewKeeper : public QObject {
  Q_OBJECT

 public:
  ViewKeeper(Session& session, KeptPlace place);

  /// In place of the file beside the recording that is opened next.
  void use(std::filesystem::path file) { chosen_ = std::move(file); }
  /// When something ends: writes if there is something to keep (marks, pins), or the file is there already. What goes
  /// wrong is said on standard error, since the window may be gone.
  void keep();
  /// Now, and says so.
  void save();

 private:
  void take_opened();
  void apply(ViewState state);
  void take_report();
  [[nodiscard]] ViewState state() const;

  Session& session_;
  KeptPlace place_;
  std::optional<ViewState> read_;  // of the file, as it was
  std::filesystem::path chosen_;
  std::filesystem::path file_;
  bool readable_ = true;             // what is there may be replaced
  bool there_ = false;               // it was read or written
  std::optional<TimeRange> wanted_;  // to be shown again in run time, unless the user moves before
  TimeRange applied_;
};

}  // namespace rankscope::gui
