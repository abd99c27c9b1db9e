#include "timeline/counter_paint.h"
#include "rankscope/core/model/run.h"

#include <algorithm>
#include <cmath>

namespace rankscope::gui {

void paint_columns(QImage& image, std::span<const std::optional<ValueColumn>> columns, const ValueArea& area) {
  if (area.bottom <= area.top) return;
  const auto line_of = [&](double value) {
    const double part = (value - area.floor) / std::max(area.range, 1e-12);
    return area.bottom - 1 - static_cast<int>(std::lround(part * (area.bottom - area.top - 2)));
  };
  const auto right = std::min(area.left + static_cast<int>(columns.size()), image.width());
  for (int x = std::max(0, area.left); x < right; ++x) {
    const auto& column = columns[static_cast<std::size_t>(x - area.left)];
    if (!column || !std::isfinite(column->least) || !std::isfinite(column->greatest)) continue;
    const int high = line_of(column->greatest);
    const int low = std::max(high, line_of(column->least));
    for (int y = std::max(0, high); y < std::min(area.bottom, image.height()); ++y)
      reinterpret_cast<QRgb*>(image.scanLine(y))[x] = y <= low ? area.rim : area.full;
  }
}

void paint_counter(QImage& image, const Scene& scene, const PlacedTrack& placed, int top, int bottom) {
  const Run& run = *scene.facts->run;
  const auto samples = run.samples_of(run.counters()[placed.track.counter]);
  if (samples.empty()) return;
  const lod::ValueLod& lod = scene.facts->lod->counter(placed.track.counter);
  const lod::Bounds all = scene.facts->lod->bounds_of_counter(placed.track.counter);
  const double floor = std::min(0.0, all.least);
  const TimeScale scale{.time = scene.time, .left = 0, .width = static_cast<double>(image.width())};
  const auto columns = value_columns(samples, lod, scale, [](const CounterSample& sample) { return sample.value; });
  const QRgb full = blend(colours_of(scene.theme).lane, colour_of(SpanKind::compute), 0.45F);
  paint_columns(image, columns, {0, top, bottom, floor, all.greatest - floor, full, colour_of(SpanKind::compute)});
}

}  // namespace rankscope::gui
