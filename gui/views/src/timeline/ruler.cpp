#include "timeline/ruler.h"

#include "rankscope/core/time_text.h"

namespace rankscope::gui {

void paint_ruler(QPainter& painter, const Ruler& ruler) {
  constexpr double label_distance = 110;
  const ThemeColours& theme = colours_of(ruler.theme);
  painter.fillRect(ruler.box, QColor{theme.background});
  const nanoseconds tick = tick_distance(ruler.scale, label_distance);
  const nanoseconds from = ruler.scale.time.begin - ruler.origin;
  painter.save();
  painter.setClipRect(ruler.box);
  for (nanoseconds at = from - nanoseconds{((from % tick) + tick) % tick}; ruler.origin + at <= ruler.scale.time.end;
       at += tick) {
    const double x = ruler.scale.x_of(ruler.origin + at);
    painter.setPen(QColor{theme.faint});
    painter.drawLine(QPointF{x, ruler.box.bottom() - 6}, QPointF{x, ruler.box.bottom()});
    painter.setPen(QColor{theme.text});
    painter.drawText(QPointF{x + 3, ruler.box.bottom() - 7},
                     QString::fromStdString(axis_text(at, tick, ruler.longest)));
  }
  painter.restore();
  painter.setPen(QColor{theme.faint});
  painter.drawLine(ruler.box.bottomLeft(), ruler.box.bottomRight());
}

}  // namespace rankscope::gui
