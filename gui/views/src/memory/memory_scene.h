// The picture of the memory chart, without text: a row per rank, all to one scale.
#pragma once

#include <QImage>
#include <optional>
#include <vector>

#include "base/colours.h"
#include "rankscope/gui/models/base/time_scale.h"
#include "rankscope/gui/models/memory/memory_peaks.h"

namespace rankscope::gui {

struct MemoryScene {
  struct Row {
    const MemoryPeaks* peaks = nullptr;
    std::optional<analyzer::MemoryValue> peak{};  ///< marked by a triangle above it
  };
  TimeRange time;
  double width = 1;  ///< pixels that do not depend on the screen
  double row_height = 40;
  double ratio = 1;      ///< pixels of the screen for each of these
  std::int64_t top = 1;  ///< bytes; a little below the upper edge of each row
  std::vector<Row> rows;
  std::vector<RunTime> steps{};  ///< where steps begin: a line each
  Theme theme = Theme::light;

  [[nodiscard]] TimeScale scale() const { return {.time = time, .left = 0, .width = width}; }
};

[[nodiscard]] QImage paint(const MemoryScene& scene);

}  // namespace rankscope::gui
