#include "pipeline/pipeline_scene.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace rankscope::gui {
namespace {

constexpr double row_gap = 4;  // between rows

/// Lines from the lower left to the upper right, by whole pixels of the screen: so does each screen show the same.
void hatch(QImage& image, const QRect& box, QRgb ground, QRgb line) {
  constexpr int distance = 6;
  const QRect part = box.intersected(image.rect());
  for (int y = part.top(); y <= part.bottom(); ++y) {
    auto* const pixels = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (int x = part.left(); x <= part.right(); ++x) pixels[x] = (x + y) % distance == 0 ? line : ground;
  }
}

QRect on_screen(const QRectF& rect, double ratio) {
  const auto pixel = [ratio](double value) { return static_cast<int>(std::lround(value * ratio)); };
  return QRect{QPoint{pixel(rect.left()), pixel(rect.top())},
               QPoint{pixel(rect.right()) - 1, pixel(rect.bottom()) - 1}};
}

void fill(QImage& image, const QRect& box, QRgb colour, QRgb rim) {
  const QRect part = box.intersected(image.rect());
  for (int y = part.top(); y <= part.bottom(); ++y) {
    auto* const pixels = reinterpret_cast<QRgb*>(image.scanLine(y));
    std::fill(pixels + part.left(), pixels + part.right() + 1, colour);
    if (box.width() > 3 && part.right() == box.right()) pixels[part.right()] = rim;
  }
}

void paint_frame(QImage& image, const PipelineScene& scene, std::size_t action, QRgb colour) {
  QPainter painter{&image};
  painter.translate(0, -scene.top());
  painter.setPen(QPen{QColor{colours_of(scene.theme).background}, 4});
  painter.drawRect(scene.rect_of(action).adjusted(1, 1, -1, -1));
  painter.setPen(QPen{QColor{colour}, 2});
  painter.drawRect(scene.rect_of(action).adjusted(1, 1, -1, -1));
}

}  // namespace

QRectF PipelineScene::rect_of(int place, TimeRange when) const {
  const double left = std::clamp(scale().x_of(when.begin), 0.0, width);
  const double right = std::clamp(scale().x_of(when.end), 0.0, width);
  return {left, place * row_height, right - left, row_height - row_gap};
}

QRectF PipelineScene::rect_of(std::size_t action) const { return rect_of(actions[action].place, actions[action].time); }

std::vector<TimeRange> bubbles_of(std::span<const analyzer::PlacedAction> actions, TimeRange step, int place) {
  std::vector<TimeRange> bubbles;
  RunTime busy_until = step.begin;
  for (const analyzer::PlacedAction& one :
       std::ranges::equal_range(actions, place, {}, &analyzer::PlacedAction::place)) {
    if (one.time.begin > busy_until) bubbles.push_back({busy_until, one.time.begin});
    busy_until = std::max(busy_until, one.time.end);
  }
  if (busy_until < step.end) bubbles.push_back({busy_until, step.end});
  return bubbles;
}

QRgb colour_of(PipelinePart part) {
  switch (part) {
    case PipelinePart::forward:
      return 0xFF0072B2;
    case PipelinePart::backward:
      return 0xFFE69F00;
    case PipelinePart::backward_input:
      return 0xFFCC79A7;
    case PipelinePart::backward_weight:
      return 0xFF009E73;
  }
  return 0xFF9AA5B1;
}

QImage paint(const PipelineScene& scene) {
  const ThemeColours& theme = colours_of(scene.theme);
  const double height = scene.places * scene.row_height;
  QImage image{std::max(1, static_cast<int>(std::lround(scene.width * scene.ratio))),
               std::max(1, static_cast<int>(std::lround(height * scene.ratio))), QImage::Format_RGB32};
  image.fill(theme.background);
  const auto in_image = [&scene](const QRectF& rect) {
    return on_screen(rect.translated(0, -scene.top()), scene.ratio);
  };
  for (int place = scene.first; place < scene.first + scene.places; ++place)
    for (const TimeRange bubble : bubbles_of(scene.actions, scene.step, place))
      hatch(image, in_image(scene.rect_of(place, bubble)), theme.lane, theme.faint);
  for (std::size_t i = 0; i < scene.actions.size(); ++i) {
    if (!scene.draws(scene.actions[i].place)) continue;
    const QRgb colour = colour_of(scene.actions[i].action.part);
    fill(image, in_image(scene.rect_of(i)), colour, blend(colour, theme.background, 0.6F));
  }
  image.setDevicePixelRatio(scene.ratio);
  if (scene.selected) paint_frame(image, scene, *scene.selected, theme.critical);
  if (scene.current) paint_frame(image, scene, *scene.current, theme.accent);
  return image;
}

}  // namespace rankscope::gui
