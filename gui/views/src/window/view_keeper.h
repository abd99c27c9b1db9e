// Keeps the view of a recording in a file beside it, and takes it from there.
#pragma once

#include <QObject>
#include <filesystem>
#include <optional>

#include "rankscope/gui/models/window/view_state.h"

namespace rankscope::gui {

class MainWindow;

/// Belongs to the window. A file that could not be read is never written over.
class ViewKeeper : public QObject {
  Q_OBJECT

 public:
  ViewKeeper(Session& session, MainWindow& window);

  /// In place of the file beside the recording that is opened next.
  void use(std::filesystem::path file) { chosen_ = std::move(file); }
  /// When something ends: writes if there is something to keep (marks, pins), or the file is there already. What goes
  /// wrong is said on standard error, since the window may be gone.
  void keep();

 private:
  void take_opened();
  void apply(const ViewState& state);
  void take_report();
  void save();
  [[nodiscard]] ViewState state() const;

  Session& session_;
  MainWindow& window_;
  std::filesystem::path chosen_;
  std::filesystem::path file_;
  bool readable_ = true;             // what is there may be replaced
  bool there_ = false;               // it was read or written
  std::optional<TimeRange> wanted_;  // to be shown again in run time, unless the user moves before
  TimeRange applied_;
};

}  // namespace rankscope::gui
