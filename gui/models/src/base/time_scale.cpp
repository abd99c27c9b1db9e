#include "rankscope/gui/models/base/time_scale.h"

#include <algorithm>
#include <cmath>

namespace rankscope::gui {
namespace {

nanoseconds rounded(double ns) { return nanoseconds{static_cast<std::int64_t>(std::llround(ns))}; }

}  // namespace

RunTime TimeScale::time_at(double x) const { return time.begin + rounded((x - left) * ns_per_pixel()); }

TimeRange TimeScale::zoomed(double factor, double x) const {
  const double length = static_cast<double>(time.length().count()) * factor;
  const double before = (x - left) / width * length;
  const RunTime begin = time_at(x) - rounded(before);
  return {begin, begin + std::max(nanoseconds{1}, rounded(length))};
}

TimeRange TimeScale::panned(double pixels) const {
  const nanoseconds by = rounded(pixels * ns_per_pixel());
  return {time.begin + by, time.end + by};
}

nanoseconds tick_distance(const TimeScale& scale, double fewest_pixels) {
  const double wanted = std::max(1.0, scale.ns_per_pixel() * fewest_pixels);
  const double power = std::pow(10.0, std::floor(std::log10(wanted)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= wanted) return rounded(factor * power);
  return rounded(10 * power);
}

}  // namespace rankscope::gui
