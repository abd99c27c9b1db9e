// The picture of a step of a pipeline, without text: a row per place, boxes of work, hatched where it stands still.
#pragma once

#include <QImage>
#include <optional>
#include <span>
#include <vector>

#include "base/colours.h"
#include "rankscope/analyzer/pipeline/actions.h"
#include "rankscope/gui/models/base/time_scale.h"

namespace rankscope::gui {

struct PipelineScene {
  std::span<const analyzer::PlacedAction> actions{};  ///< by place and begin
  TimeRange step;                                     ///< rows stand still where they do nothing in it
  TimeRange time;                                     ///< the part that is drawn
  int places = 0;                                     ///< that are drawn
  int first = 0;                                      ///< the first of them
  double width = 1;                                   ///< pixels that do not depend on the screen
  double row_height = 30;
  double ratio = 1;                       ///< pixels of the screen for each of these
  std::optional<std::size_t> current{};   ///< an action with a frame around it
  std::optional<std::size_t> selected{};  ///< the one that is selected in the timeline
  Theme theme = Theme::light;

  [[nodiscard]] TimeScale scale() const { return {.time = time, .left = 0, .width = width}; }
  [[nodiscard]] bool draws(int place) const { return place >= first && place < first + places; }
  /// Above the first row that is drawn.
  [[nodiscard]] double top() const { return first * row_height; }
  /// From the upper edge of row 0 on.
  [[nodiscard]] QRectF rect_of(std::size_t action) const;
  [[nodiscard]] QRectF rect_of(int place, TimeRange when) const;
};

/// Where a place did nothing in the step.
[[nodiscard]] std::vector<TimeRange> bubbles_of(std::span<const analyzer::PlacedAction> actions, TimeRange step,
                                                int place);
[[nodiscard]] QRgb colour_of(PipelinePart part);
/// The rows that are drawn, from the upper edge of the first one on.
[[nodiscard]] QImage paint(const PipelineScene& scene);

}  // namespace rankscope::gui
