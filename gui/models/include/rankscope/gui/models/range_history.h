// The ranges of time that were looked at, to go back to.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "rankscope/core/time.h"

namespace rankscope::gui {

/// Like the pages of a browser: what is left is remembered, and a new way drops what was ahead.
class RangeHistory {
 public:
  /// Call before leaving `from`. Successive moves of one kind, such as turns of a wheel, are one; an empty kind is
  /// always a move of its own.
  void leave(TimeRange from, std::string_view kind);
  [[nodiscard]] std::optional<TimeRange> back(TimeRange from);
  [[nodiscard]] std::optional<TimeRange> forward(TimeRange from);
  void clear();

 private:
  static constexpr std::size_t most = 200;
  std::vector<TimeRange> behind_;
  std::vector<TimeRange> ahead_;
  std::string_view kind_;  // of the last move; texts of the program itself
};

}  // namespace rankscope::gui
