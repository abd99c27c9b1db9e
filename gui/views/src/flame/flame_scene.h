// The picture of a tree of operators: what encloses stands above what is nested in it.
#pragma once

#include <QFont>
#include <QImage>
#include <functional>
#include <optional>
#include <span>

#include "base/colours.h"
#include "rankscope/gui/models/flame/flame_tree.h"

namespace rankscope::gui {

struct FlameScene {
  const FlameTree* tree = nullptr;
  std::span<const FlameBox> boxes;  ///< of flame_boxes()
  double width = 1;                 ///< pixels that do not depend on the screen
  double height = 1;
  double scroll = 0;  ///< what is above the picture
  double row_height = 18;
  double ratio = 1;                          ///< pixels of the screen for each of these
  std::optional<std::uint32_t> current{};    ///< has a frame around it
  std::optional<std::uint32_t> selected{};   ///< of the selected event: has one, too
  std::function<bool(std::uint32_t)> lit{};  ///< frames to be seen before the others; empty: all
  Theme theme = Theme::light;

  [[nodiscard]] QRectF rect_of(const FlameBox& box) const {
    return {box.left, box.row * row_height - scroll, box.width, row_height - 1};
  }
  /// Null where there is none.
  [[nodiscard]] const FlameBox* box_at(QPointF position) const;
};

[[nodiscard]] QImage paint(const FlameScene& scene);
[[nodiscard]] QRgb colour_of(const FlameScene& scene, const FlameBox& box);

}  // namespace rankscope::gui
