#include "record/live_chart.h"

#include <QPainter>
#include <algorithm>
#include <array>

#include "base/shades.h"
#include "rankscope/gui/models/record/live_plot.h"

namespace rankscope::gui {
namespace {

constexpr double margin = 6;
constexpr double names_width = 110;
constexpr std::size_t most_bars = 16;
constexpr std::size_t most_names = 12;

struct Part {
  const char* name;
  SpanKind kind;
};
constexpr std::array parts{
    Part{"compute", SpanKind::forward}, Part{"communication", SpanKind::comm}, Part{"copies", SpanKind::memory},
    Part{"data", SpanKind::data},       Part{"blocked", SpanKind::wait},       Part{"other", SpanKind::user},
};

QBrush brush_of(const Part& part, const ThemeColours& theme) {
  if (part.kind == SpanKind::user) return QColor{theme.header};
  return QColor{colour_of(part.kind)};
}

void fill(QPainter& painter, const QRectF& box, const Part& part, const ThemeColours& theme) {
  painter.fillRect(box, brush_of(part, theme));
  if (is_hatched(part.kind)) painter.fillRect(box, QBrush{QColor{0, 0, 0, 90}, Qt::BDiagPattern});
}

QPolygonF polygon_of(const LivePlot::Line& line, const QRectF& box) {
  QPolygonF polygon;
  for (const QPointF& point : line.points)
    polygon << QPointF{box.left() + point.x() * box.width(), box.bottom() - point.y() * box.height()};
  return polygon;
}

}  // namespace

QColor colour_of_process(std::size_t number) {
  constexpr std::array<QRgb, 8> colours{0xff0072b2, 0xffe69f00, 0xff009e73, 0xffcc79a7,
                                        0xff56b4e9, 0xffd55e00, 0xff8a6d00, 0xff777777};
  return QColor::fromRgb(colours[number % colours.size()]);
}

LiveChart::LiveChart(LivePreview& preview, QWidget* parent) : QWidget(parent), preview_(preview) {
  setObjectName(QStringLiteral("live_chart"));
  setAccessibleName(tr("Preview of step durations, their parts, and memory; the table has the same numbers"));
  setMinimumHeight(220);
  connect(&preview, &LivePreview::changed, this, [this] { update(); });
}

const ThemeColours& LiveChart::theme() const { return colours_of(is_dark(palette()) ? Theme::dark : Theme::light); }

double LiveChart::line_height() const { return fontMetrics().height() + 2; }

void LiveChart::paintEvent(QPaintEvent*) {
  QPainter painter{this};
  painter.setRenderHint(QPainter::Antialiasing);
  painter.fillRect(rect(), QColor{theme().background});
  const recording::LiveView& view = *preview_.view();
  const LivePlot steps = step_plot(view);
  const LivePlot host = memory_plot(view, MemoryOf::host);
  const LivePlot device = memory_plot(view, MemoryOf::device);
  const bool any_bars = !split_bars(view).empty();
  const int rows =
      2 * int{!steps.lines.empty()} + 2 * int{any_bars} + int{!host.lines.empty()} + int{!device.lines.empty()};
  if (rows == 0) {
    painter.setPen(QColor{theme().text});
    painter.drawText(rect(), Qt::AlignCenter | Qt::TextWordWrap, note_of(view));
    return;
  }
  const double unit = (height() - margin) / rows;
  double top = margin;
  const auto next = [&](int units) {
    const QRectF box{margin, top, width() - 2 * margin, unit * units - margin};
    top += unit * units;
    return box;
  };
  if (!steps.lines.empty()) paint_plot(painter, next(2), tr("Completed steps and their durations"), steps);
  if (any_bars) paint_bars(painter, next(2));
  if (!host.lines.empty()) paint_plot(painter, next(1), tr("Host memory"), host);
  if (!device.lines.empty())
    paint_plot(painter, next(1), tr("Memory allocated by the framework, or used on the device"), device);
}

/// The names of the lines stand at the right, as far as there is room.
void LiveChart::paint_plot(QPainter& painter, const QRectF& box, const QString& title, const LivePlot& plot) const {
  painter.setPen(QColor{theme().text});
  painter.drawText(QRectF{box.left(), box.top(), box.width(), line_height()}, Qt::AlignLeft | Qt::AlignVCenter,
                   tr("%1, up to %2, over %3").arg(title, plot.top, plot.span));
  const QRectF ground = box.adjusted(0, line_height(), -names_width, 0);
  painter.fillRect(ground, QColor{theme().lane});
  const auto room = static_cast<std::size_t>(std::max(1.0, (box.height()) / line_height()));
  const std::size_t names = std::min({plot.lines.size(), room, most_names});
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    painter.setPen(QPen{colour_of_process(i), 1.5});
    const QPolygonF polygon = polygon_of(plot.lines[i], ground);
    polygon.size() == 1 ? painter.drawEllipse(polygon.front(), 2, 2) : painter.drawPolyline(polygon);
    if (i >= names) continue;
    const bool is_rest = i + 1 == names && plot.lines.size() > names;
    if (is_rest) painter.setPen(QColor{theme().text});
    const QString name = is_rest ? tr("... %1 more").arg(plot.lines.size() - i) : plot.lines[i].name;
    painter.drawText(QRectF{ground.right() + margin, box.top() + static_cast<double>(i) * line_height(),
                            names_width - margin, line_height()},
                     Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(name, Qt::ElideRight, static_cast<int>(names_width - margin)));
  }
}

void LiveChart::paint_bars(QPainter& painter, const QRectF& box) const {
  std::vector<LiveBar> bars = split_bars(*preview_.view());
  const auto room = static_cast<std::size_t>(std::max(1.0, (box.height() - line_height()) / 6));
  if (const std::size_t shown = std::min({bars.size(), room, most_bars}); shown < bars.size()) bars.resize(shown);
  paint_legend(painter, {box.left(), box.top(), box.width(), line_height()});
  const double height = std::min(2 * line_height(), (box.height() - line_height()) / static_cast<double>(bars.size()));
  for (std::size_t row = 0; row < bars.size(); ++row) {
    const double y = box.top() + line_height() + static_cast<double>(row) * height;
    double x = box.left();
    const double width = box.width() - names_width;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const QRectF piece{x, y, bars[row].shares[i] * width, height - 2};
      fill(painter, piece, parts[i], theme());
      x = piece.right();
    }
    painter.setPen(QColor{theme().text});
    if (height >= line_height() - 3)
      painter.drawText(QRectF{box.right() - names_width + margin, y, names_width - margin, height - 2},
                       Qt::AlignLeft | Qt::AlignVCenter, bars[row].name);
  }
}

void LiveChart::paint_legend(QPainter& painter, QRectF line) const {
  painter.setPen(QColor{theme().text});
  const auto write = [&](const QString& text) {
    painter.drawText(line, Qt::AlignLeft | Qt::AlignVCenter, text);
    line.setLeft(line.left() + painter.fontMetrics().horizontalAdvance(text) + margin);
  };
  write(tr("Last steps:"));
  for (const Part& part : parts) {
    const double side = line.height() * 0.6;
    fill(painter, {line.left(), line.center().y() - side / 2, side, side}, part, theme());
    line.setLeft(line.left() + side + 3);
    write(tr(part.name));
    line.setLeft(line.left() + margin);
  }
}

}  // namespace rankscope::gui
