#include "timeline/counter_paint.h"

#include <algorithm>
#include <cmath>

namespace rankscope::gui {
namespace {

struct Column {
  double least = 0;
  double greatest = 0;
  double last = 0;
};

/// One per pixel; where there is no sample the last value holds. Nothing before the first sample.
std::vector<std::optional<Column>> columns_of(std::span<const CounterSample> samples, const TimeScale& scale) {
  std::vector<std::optional<Column>> columns(static_cast<std::size_t>(scale.width));
  const auto after = [&](RunTime moment) {
    return std::ranges::upper_bound(samples, moment, {}, &CounterSample::time);
  };
  auto at = after(scale.time.begin);
  std::optional<double> held;
  if (at != samples.begin()) held = std::prev(at)->value;
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const RunTime edge = scale.time_at(static_cast<double>(x + 1));
    if (held) columns[x] = Column{*held, *held, *held};
    for (; at != samples.end() && at->time < edge; ++at) {
      if (!columns[x]) columns[x] = Column{at->value, at->value, at->value};
      Column& column = *columns[x];
      column = {std::min(column.least, at->value), std::max(column.greatest, at->value), at->value};
      held = at->value;
    }
  }
  return columns;
}

}  // namespace

void paint_counter(QImage& image, const Scene& scene, const PlacedTrack& placed, int top, int bottom) {
  const Run& run = *scene.facts->run;
  const auto samples = run.samples_of(run.counters()[placed.track.counter]);
  if (samples.empty() || bottom <= top) return;
  const auto [least, greatest] = std::ranges::minmax(samples, {}, &CounterSample::value);
  const double floor = std::min(0.0, least.value);
  const double range = std::max(greatest.value - floor, 1e-12);
  const TimeScale scale{.time = scene.time, .left = 0, .width = static_cast<double>(image.width())};
  const auto line_of = [&](double value) {
    return bottom - 1 - static_cast<int>(std::lround((value - floor) / range * (bottom - top - 2)));
  };
  const QRgb full = blend(colours_of(scene.theme).lane, colour_of(SpanKind::compute), 0.45F);
  const QRgb rim = colour_of(SpanKind::compute);
  const auto columns = columns_of(samples, scale);
  for (int x = 0; x < image.width(); ++x) {
    const auto& column = columns[static_cast<std::size_t>(x)];
    if (!column) continue;
    const int high = line_of(column->greatest);
    const int low = std::max(high, line_of(column->least));
    for (int y = std::max(0, high); y < std::min(bottom, image.height()); ++y)
      reinterpret_cast<QRgb*>(image.scanLine(y))[x] = y <= low ? rim : full;
  }
}

}  // namespace rankscope::gui
