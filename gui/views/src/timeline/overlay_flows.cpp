#include <QPainterPath>
#include <cmath>

#include "rankscope/analyzer/critical_path/section.h"
#include "timeline/overlay.h"

namespace rankscope::gui {
namespace {

constexpr double arrow = 5;
constexpr std::size_t most_members = 64;  // of a collective: more arrows are one smear

QColor colour_of_arrow(FlowKind kind, Theme theme) {
  switch (kind) {
    case FlowKind::launch:
      return QColor{colours_of(theme).text};
    case FlowKind::forward_backward:
      return QColor{colour_of(SpanKind::optimizer)};
    case FlowKind::members:
      return QColor{colour_of(SpanKind::data)};
    case FlowKind::transfer:
      return QColor{colour_of(SpanKind::sync)};
  }
  return QColor{colours_of(theme).text};
}

/// From the end of what caused it to the begin of what it caused; between members from begin to begin.
void paint_arrow(QPainter& painter, QPointF from, QPointF to, const QColor& colour) {
  QPainterPath path{from};
  const double bend = std::max(20.0, std::abs(to.x() - from.x()) / 2);
  path.cubicTo(from + QPointF{bend, 0}, to - QPointF{bend, 0}, to);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen{colour, 1.5});
  painter.drawPath(path);
  painter.setBrush(colour);
  painter.drawPolygon(QPolygonF{to, to + QPointF{-arrow, -arrow / 1.5}, to + QPointF{-arrow, arrow / 1.5}});
}

void paint_flow(QPainter& painter, const OverlayInput& input, const Flow& flow) {
  const auto from = place_of(input, flow.from);
  const auto to = place_of(input, flow.to);
  if (!from || !to) return;
  const bool causes = flow.kind == FlowKind::launch || flow.kind == FlowKind::forward_backward;
  const double begin = causes ? std::min(from->right(), std::max(from->left(), to->left())) : from->left();
  paint_arrow(painter, {begin, from->center().y()}, {to->left(), to->center().y()},
              colour_of_arrow(flow.kind, input.theme));
}

/// The path: a bar under each stretch and lines from one lane to the next.
void paint_critical_path(QPainter& painter, const OverlayInput& input) {
  const auto& facts = input.model.facts();
  const TimeScale scale = input.layout.scale(input.session.visible());
  const QColor colour{colours_of(input.theme).critical};
  QPointF last;
  bool goes_on = false;  // from `last`
  for (const analyzer::PathStretch& stretch : critical_stretches(*facts)) {
    const Track* const track = stretch.lane.is_set() ? input.model.tracks().of_lane(stretch.lane, *facts->run)
                                                     : input.model.tracks().of_rank(stretch.rank);
    const double left = scale.x_of(stretch.time.begin);
    const double right = scale.x_of(stretch.time.end);
    const bool seen = right >= input.layout.canvas.left() && left <= input.layout.canvas.right();
    if (track == nullptr || !seen) {
      goes_on = false;
      continue;
    }
    const double height = std::min(track->height, input.model.row_height());
    const double y = input.layout.y_of(*track) + height - 2;
    painter.setPen(QPen{colour, 1.5});
    if (goes_on) painter.drawLine(last, QPointF{left, y});
    painter.fillRect(QRectF{left, y - 1, std::max(1.0, right - left), 3}, colour);
    last = QPointF{right, y};
    goes_on = true;
  }
}

}  // namespace

void paint_flows(QPainter& painter, const OverlayInput& input) {
  if (input.model.facts() == nullptr) return;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (input.critical_path) paint_critical_path(painter, input);
  for (std::size_t i = 0; i < std::min(most_members, input.flows.size()); ++i)
    paint_flow(painter, input, input.flows[i]);
  painter.restore();
}

}  // namespace rankscope::gui
