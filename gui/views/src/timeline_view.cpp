#include "rankscope/gui/views/timeline_view.h"

#include <QPainter>

namespace rankscope::gui {

TimelineView::TimelineView(Session& session, QWidget* parent) : QWidget(parent), session_(session) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(tr("Timeline"));
  connect(&session, &Session::runChanged, this, [this] { update(); });
  connect(&session, &Session::visibleRangeChanged, this, [this] { update(); });
}

/// One bar per rank: from its first to its last event.
void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter{this};
  painter.fillRect(rect(), palette().base());
  if (session_.run() == nullptr) {
    painter.drawText(rect(), Qt::AlignCenter, tr("Drop a recording here, or open one in the menu File."));
    return;
  }
  const TimeRange visible = session_.visible();
  const double scale = width() / static_cast<double>(visible.length().count());
  int y = 0;
  for (const Process& process : session_.run()->processes()) {
    const double x = static_cast<double>((process.recorded.begin - visible.begin).count()) * scale;
    const double length = static_cast<double>(process.recorded.length().count()) * scale;
    painter.fillRect(QRectF{x, static_cast<double>(y), length, 14.0}, palette().highlight());
    y += 18;
  }
}

}  // namespace rankscope::gui
