// What goes out of the viewer, and what is asked for it: pictures, exports, notes.
#pragma once

#include <QObject>

#include "rankscope/gui/models/window/range_export.h"

namespace rankscope::gui {

class MainWindow;

/// Answers what the timeline requests with dialogs of the window, to which it belongs.
class Outlets : public QObject {
  Q_OBJECT

 public:
  Outlets(Session& session, MainWindow& window);

 private:
  void ask_for_note();
  void ask_for_picture();
  void ask_for_export();
  void say(const QString& sentence);

  Session& session_;
  MainWindow& window_;
  RangeExport export_;
};

}  // namespace rankscope::gui
