// Edges that a range sticks to while it is drawn.
#pragma once

#include <vector>

#include "rankscope/gui/models/timeline/timeline_model.h"

namespace rankscope::gui {

/// Whose edges count: events in some rows of a lane, and steps of some ranks.
struct SnapTo {
  LaneId lane{};                ///< none: only steps
  std::uint32_t first_row = 0;  ///< of the lane's rows
  std::uint32_t rows = 0;
  std::vector<RankId> ranks{};
};

/// The edge that is nearest to a moment and at most `reach` away, else the moment itself.
[[nodiscard]] RunTime snapped(const Facts& facts, const SnapTo& to, RunTime moment, nanoseconds reach);

}  // namespace rankscope::gui
