// Painting of spans into an image, apart from widgets: a scene in, pixels out. Runs on any thread.
#pragma once

#include <QFont>
#include <QImage>
#include <QPainter>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/colours.h"
#include "rankscope/gui/models/base/time_scale.h"
#include "rankscope/gui/models/timeline/hit_times.h"
#include "rankscope/gui/models/timeline/timeline_model.h"

namespace rankscope::gui {

/// A track and where it is on the image, in pixels that do not depend on the screen.
struct PlacedTrack {
  Track track;
  double y = 0;
};

/// All that the picture depends on.
struct Scene {
  std::shared_ptr<const Facts> facts;
  TimeRange time;
  double width = 1;  ///< pixels that do not depend on the screen
  double height = 1;
  double ratio = 1;  ///< pixels of the screen for each of these
  double row_height = 16;
  std::vector<PlacedTrack> tracks;
  ColourBy colour_by = ColourBy::kind;
  Theme theme = Theme::light;
  std::shared_ptr<const std::vector<bool>> lit;  ///< by StringId; null: all are lit
  std::shared_ptr<const HitTimes> hits{};        ///< of the search; ticks on folded ranks
  bool labels = true;
  QFont font;

  [[nodiscard]] TimeScale scale() const { return {.time = time, .left = 0, .width = width}; }
};

[[nodiscard]] QImage paint(const Scene& scene);
/// The same, but its labels stay text where the painter's device has texts, such as SVG.
void paint(QPainter& painter, const Scene& scene);

}  // namespace rankscope::gui
