// All ranks on one time axis.
#pragma once

#include <QWidget>

#include "rankscope/gui/models/session.h"

namespace rankscope::gui {

/// The session outlives it.
class TimelineView : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineView(Session& session, QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Session& session_;
};

}  // namespace rankscope::gui
