// What an empty window offers, below the words of the timeline.
#pragma once

#include <QWidget>

#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// In the middle of `parent`, as long as nothing is open.
class StartPage : public QWidget {
  Q_OBJECT

 public:
  StartPage(Session& session, QWidget& parent);

 Q_SIGNALS:
  void folderRequested();
  void filesRequested();
  void recordRequested();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void place();
};

}  // namespace rankscope::gui
