// All panels of a window on or off.
#pragma once

#include <QByteArray>
#include <QMainWindow>
#include <QObject>

namespace rankscope::gui {

/// Remembers where panels were and how large while they are off, so that they come back as they were. Belongs to the
/// window.
class PanelSwitch : public QObject {
 public:
  explicit PanelSwitch(QMainWindow& window) : QObject(&window), window_(window) {}

  /// Hides all panels, or shows those that it hid last; where it hid none, all. If a panel that is hidden has the
  /// keyboard, `keyboard` gets it.
  void toggle(QWidget& keyboard);
  /// Panels were placed anew: what was hidden before does not come back.
  void forget() { hidden_.clear(); }

 private:
  void hide_all(QWidget& keyboard);
  void show_again();

  QMainWindow& window_;
  QByteArray hidden_;  // the state of the window before its panels were hidden; empty: they were not
};

}  // namespace rankscope::gui
