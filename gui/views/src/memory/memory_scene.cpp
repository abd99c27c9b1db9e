#include "memory/memory_scene.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "timeline/counter_paint.h"

namespace rankscope::gui {
namespace {

constexpr double gap = 3;          // between rows
constexpr double marker_room = 9;  // above the curve

void paint_row(QImage& image, const MemoryScene& scene, const MemoryScene::Row& row, double y) {
  const ThemeColours& theme = colours_of(scene.theme);
  const TimeScale pixels{.time = scene.time, .left = 0, .width = static_cast<double>(image.width())};
  const QRgb rim = colour_of(SpanKind::memory);
  const auto columns =
      value_columns(std::span{row.peaks->line().values}, row.peaks->lod(), pixels,
                    [](const analyzer::MemoryValue& value) { return static_cast<double>(value.bytes); });
  paint_columns(image, columns,
                {.left = 0,
                 .top = static_cast<int>(std::lround((y + marker_room) * scene.ratio)),
                 .bottom = static_cast<int>(std::lround((y + scene.row_height - gap) * scene.ratio)),
                 .floor = 0,
                 .range = static_cast<double>(scene.top),
                 .full = blend(theme.lane, rim, 0.4F),
                 .rim = rim});
}

/// Points at the highest value from above.
void paint_peak(QPainter& painter, const MemoryScene& scene, const analyzer::MemoryValue& peak, double y) {
  const double room = scene.row_height - gap - marker_room;
  const double share = static_cast<double>(peak.bytes) / static_cast<double>(std::max<std::int64_t>(1, scene.top));
  const QPointF tip{std::clamp(scene.scale().x_of(peak.time), 0.0, scene.width),
                    y + marker_room + room * (1 - std::min(1.0, share))};
  QPolygonF triangle;
  triangle << tip << tip + QPointF{-4, -7} << tip + QPointF{4, -7};
  painter.setPen(Qt::NoPen);
  painter.setBrush(QColor{colours_of(scene.theme).critical});
  painter.drawPolygon(triangle);
}

}  // namespace

QImage paint(const MemoryScene& scene) {
  const ThemeColours& theme = colours_of(scene.theme);
  const double height = scene.row_height * static_cast<double>(scene.rows.size());
  QImage image{std::max(1, static_cast<int>(std::lround(scene.width * scene.ratio))),
               std::max(1, static_cast<int>(std::lround(height * scene.ratio))), QImage::Format_RGB32};
  image.fill(theme.background);
  image.setDevicePixelRatio(scene.ratio);
  const auto y_of = [&](std::size_t row) { return static_cast<double>(row) * scene.row_height; };
  for (QPainter lanes{&image}; const auto& row : scene.rows)
    lanes.fillRect(
        QRectF{0, y_of(static_cast<std::size_t>(&row - scene.rows.data())), scene.width, scene.row_height - gap},
        QColor{theme.lane});
  for (std::size_t i = 0; i < scene.rows.size(); ++i) paint_row(image, scene, scene.rows[i], y_of(i));
  QPainter painter{&image};
  painter.setPen(QPen{QColor{theme.faint}, 1, Qt::DashLine});
  for (const RunTime step : scene.steps) {
    const double x = std::round(scene.scale().x_of(step)) + 0.5;
    painter.drawLine(QPointF{x, 0}, QPointF{x, height});
  }
  for (std::size_t i = 0; i < scene.rows.size(); ++i)
    if (scene.rows[i].peak) paint_peak(painter, scene, *scene.rows[i].peak, y_of(i));
  painter.end();
  return image;
}

}  // namespace rankscope::gui
