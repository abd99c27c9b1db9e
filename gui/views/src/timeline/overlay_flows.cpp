#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "rankscope/analyzer/critical_path/section.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
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

/// An end of an arrow.
struct ArrowEnd {
  QRectF box;
  bool in_sight;
};

/// Where the span is or, if that is scrolled out of sight, its copy on a pinned lane. Nothing if neither is drawn.
std::optional<ArrowEnd> end_of_arrow(const OverlayInput& input, SpanId span) {
  const QRectF& canvas = input.layout.canvas;
  const auto meets = [](const QRectF& box, const QRectF& room) {
    return box.right() > room.left() && box.left() < room.right() && box.bottom() > room.top() &&
           box.top() < room.bottom();
  };
  const QRectF scrolled = canvas.adjusted(0, input.layout.pinned_height, 0, 0);
  const auto box = place_of(input, span);
  if (box && meets(*box, scrolled)) return ArrowEnd{*box, true};
  if (const auto copy = pinned_box_of(input, span)) return ArrowEnd{*copy, meets(*copy, canvas)};
  return box ? std::optional{ArrowEnd{*box, false}} : std::nullopt;
}

/// "→ rank 2 ↓": where to an arrow of the selected event leads, or where from, if that end is out of sight. On the same
/// rank, the lane is named.
QString words_of_exit(const OverlayInput& input, const Flow& flow, const std::optional<ArrowEnd>& end) {
  const Run& run = *input.model.facts()->run;
  const bool leads_away = flow.from == *input.session.selection();
  const Lane& lane = run.lane(run.span(leads_away ? flow.to : flow.from).lane);
  const bool same_rank = lane.rank == run.lane(run.span(*input.session.selection()).lane).rank;
  const QString text = (leads_away ? QStringLiteral("→ ") : QStringLiteral("← ")) +
                       (same_rank ? qt_text(run.text(lane.name)) : rank_text(run, lane));
  if (!end) return QObject::tr("%1 (not shown)").arg(text);
  const QRectF& canvas = input.layout.canvas;
  if (end->box.center().y() > canvas.bottom()) return text + QStringLiteral(" ↓");
  if (end->box.center().y() < canvas.top() + input.layout.pinned_height) return text + QStringLiteral(" ↑");
  return end->box.left() >= canvas.right() ? QObject::tr("%1, later").arg(text) : QObject::tr("%1, earlier").arg(text);
}

/// Labels of the arrows of the selected event at the rim of the canvas that do not cover each other; those that find no
/// room are left out.
class ExitLabels {
 public:
  ExitLabels(QPainter& painter, const OverlayInput& input, SpanId selected)
      : painter_(painter), input_(input), selected_(selected), own_(end_of_arrow(input, selected)) {}

  void add(const Flow& flow) {
    if (!own_ || !own_->in_sight || (flow.from != selected_ && flow.to != selected_)) return;
    const auto end = end_of_arrow(input_, flow.from == selected_ ? flow.to : flow.from);
    if (end && end->in_sight) return;
    const QString text = words_of_exit(input_, flow, end);
    QRectF label = painter_.fontMetrics().boundingRect(text).adjusted(-4, -1, 4, 1);
    const QRectF room = input_.layout.canvas.adjusted(2, input_.layout.pinned_height + 2, -2, -2);
    label.moveCenter(end ? end->box.center() : own_->box.center() + QPointF{0, 1.5 * own_->box.height()});
    label.moveLeft(std::clamp(label.left(), room.left(), std::max(room.left(), room.right() - label.width())));
    label.moveTop(std::clamp(label.top(), room.top(), std::max(room.top(), room.bottom() - label.height())));
    const double away = label.center().y() > room.center().y() ? -label.height() - 1 : label.height() + 1;
    while (is_taken(label) && room.contains(label)) label.translate(0, away);
    if (!room.contains(label)) return;
    taken_.push_back(label);
    const ThemeColours& theme = colours_of(input_.theme);
    painter_.fillRect(label, QColor{theme.background});
    painter_.setBrush(Qt::NoBrush);
    painter_.setPen(colour_of_arrow(flow.kind, input_.theme));
    painter_.drawRect(label);
    painter_.setPen(QColor{theme.text});
    painter_.drawText(label, Qt::AlignCenter, text);
  }

 private:
  [[nodiscard]] bool is_taken(const QRectF& label) const {
    return std::ranges::any_of(taken_, [&label](const QRectF& other) { return other.intersects(label); });
  }

  QPainter& painter_;
  const OverlayInput& input_;
  SpanId selected_;
  std::optional<ArrowEnd> own_;
  std::vector<QRectF> taken_;
};

void paint_flow(QPainter& painter, const OverlayInput& input, const Flow& flow) {
  const auto from_end = end_of_arrow(input, flow.from);
  const auto to_end = end_of_arrow(input, flow.to);
  if (!from_end || !to_end) return;
  const QRectF* const from = &from_end->box;
  const QRectF* const to = &to_end->box;
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
  painter.setRenderHint(QPainter::Antialiasing, false);
  if (const auto selected = input.session.selection(); selected && !input.flows.empty()) {
    ExitLabels labels{painter, input, *selected};
    for (std::size_t i = 0; i < std::min(most_members, input.flows.size()); ++i) labels.add(input.flows[i]);
  }
  painter.restore();
}

}  // namespace rankscope::gui
