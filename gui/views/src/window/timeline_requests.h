// What users ask of the timeline that needs a dialog: a note, a picture, an export.
#pragma once

#include <QObject>

#include "rankscope/gui/models/window/range_export.h"

namespace rankscope::gui {

class MainWindow;

/// Answers each with a dialog of the window, to which it belongs.
class TimelineRequests : public QObject {
  Q_OBJECT

 public:
  TimelineRequests(Session& session, MainWindow& window);

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
