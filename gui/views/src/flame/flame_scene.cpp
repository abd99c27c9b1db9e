#include "flame/flame_scene.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace rankscope::gui {
namespace {

void frame(QPainter& painter, const QRectF& box, QRgb under, QRgb over) {
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen{QColor{under}, 4});
  painter.drawRect(box.adjusted(1, 1, -1, -1));
  painter.setPen(QPen{QColor{over}, 2});
  painter.drawRect(box.adjusted(1, 1, -1, -1));
}

}  // namespace

QRgb colour_of(const FlameScene& scene, const FlameBox& box) {
  const ThemeColours& theme = colours_of(scene.theme);
  const FlameFrame& one = scene.tree->frame(box.frame);
  const QRgb colour = !one.name.is_set() ? theme.header : colour_of(one.kind);
  const bool dimmed = scene.lit && !scene.lit(box.frame);
  return dimmed ? blend(theme.lane, colour, 0.2F) : colour;
}

const FlameBox* FlameScene::box_at(QPointF position) const {
  const auto found = std::ranges::find_if(boxes, [&](const FlameBox& box) { return rect_of(box).contains(position); });
  return found == boxes.end() ? nullptr : &*found;
}

QImage paint(const FlameScene& scene) {
  const ThemeColours& theme = colours_of(scene.theme);
  QImage image{std::max(1, static_cast<int>(std::lround(scene.width * scene.ratio))),
               std::max(1, static_cast<int>(std::lround(scene.height * scene.ratio))), QImage::Format_RGB32};
  image.fill(theme.background);
  image.setDevicePixelRatio(scene.ratio);
  QPainter painter{&image};
  for (const FlameBox& box : scene.boxes) {
    const QRectF rect = scene.rect_of(box);
    if (rect.bottom() < 0 || rect.top() > scene.height) continue;
    // A line of the ground between neighbours, as far as they are wide enough for it.
    const QRectF inner = rect.adjusted(0, 0, rect.width() > 3 ? -1 : 0, 0);
    painter.fillRect(inner, QColor{colour_of(scene, box)});
    if (box.more > 0) painter.fillRect(inner, QBrush{QColor{theme.background}, Qt::Dense4Pattern});
  }
  for (const FlameBox& box : scene.boxes) {
    if (box.more > 0) continue;
    if (scene.selected == box.frame) frame(painter, scene.rect_of(box), theme.background, theme.critical);
    if (scene.current == box.frame) frame(painter, scene.rect_of(box), theme.background, theme.accent);
  }
  painter.end();
  return image;
}

}  // namespace rankscope::gui
