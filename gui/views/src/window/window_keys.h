// Keys of timelines, wherever in their window the keyboard is.
#pragma once

#include <QList>
#include <QMainWindow>

namespace rankscope::gui {

class TimelineView;

/// Commands act on the timeline that had the keyboard last, at first on the first one. Keys that move within a panel
/// stay with what has the keyboard; text fields take what can be typed into them by themselves. Belongs to the window.
class WindowKeys : public QObject {
  Q_OBJECT

 public:
  /// After all docks are there.
  WindowKeys(QMainWindow& window, QList<TimelineView*> timelines);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void give_to(const TimelineView& current);

  QList<TimelineView*> timelines_;
};

}  // namespace rankscope::gui
