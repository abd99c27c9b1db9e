// Where times are on the screen. Apart from painting, so that it can be tested without any.
#pragma once

#include "rankscope/core/time.h"

namespace rankscope::gui {

/// A stretch of time over a stretch of pixels. Times stay whole nanoseconds: only differences to the begin of the range
/// become fractions.
struct TimeScale {
  TimeRange time{at(0), at(1)};
  double left = 0;   ///< pixel of time.begin
  double width = 1;  ///< in pixels

  [[nodiscard]] double ns_per_pixel() const { return static_cast<double>(time.length().count()) / width; }
  [[nodiscard]] double x_of(RunTime moment) const {
    return left + static_cast<double>((moment - time.begin).count()) / ns_per_pixel();
  }
  [[nodiscard]] RunTime time_at(double x) const;
  /// `factor` below 1 zooms in; what is at `x` stays there.
  [[nodiscard]] TimeRange zoomed(double factor, double x) const;
  /// Later times come into view for positive pixels.
  [[nodiscard]] TimeRange panned(double pixels) const;
  bool operator==(const TimeScale&) const = default;
};

/// 1, 2 or 5 times a power of ten ns: the smallest of these that is at least `fewest_pixels` wide.
[[nodiscard]] nanoseconds tick_distance(const TimeScale& scale, double fewest_pixels);

}  // namespace rankscope::gui
