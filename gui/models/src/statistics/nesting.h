// What is around each span of a lane, and how much of the self time of that one it takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "rankscope/core/time.h"

namespace rankscope::gui {

/// Meets the spans of a lane in their order. Of spans that overlap though neither encloses the other the common part is
/// taken once from the self time of what encloses both, which so is never below 0.
class Nesting {
 public:
  struct Around {
    std::uint32_t owner = 0;
    std::int64_t taken_ns = 0;  ///< of its self time inside the range
  };
  explicit Nesting(TimeRange range) : range_(range) {}

  void begin_lane() { open_.clear(); }

  /// The innermost span around the next one, which must touch the range; nothing where none is around it.
  std::optional<Around> meet(TimeRange time) {
    while (!open_.empty() && !encloses(open_.back().time, time)) open_.pop_back();
    if (open_.empty()) return std::nullopt;
    Open& around = open_.back();
    const TimeRange inside = intersect(time, range_);
    const nanoseconds taken = inside.end - std::max(inside.begin, around.covered);
    around.covered = std::max(around.covered, inside.end);
    return Around{around.owner, std::max(nanoseconds{0}, taken).count()};
  }
  /// Is one of the spans around what was met last of this owner?
  [[nodiscard]] bool is_inside(std::uint32_t owner) const {
    return std::ranges::find(open_, owner, &Open::owner) != open_.end();
  }
  /// What was met last may be around those that follow.
  void open(TimeRange time, std::uint32_t owner) { open_.push_back({time, range_.begin, owner}); }

 private:
  struct Open {
    TimeRange time;
    RunTime covered;  // of the range, by what was met inside it
    std::uint32_t owner;
  };
  static bool encloses(TimeRange outer, TimeRange inner) {
    return outer.begin <= inner.begin && inner.end <= outer.end;
  }

  TimeRange range_;
  std::vector<Open> open_;  // the innermost last
};

}  // namespace rankscope::gui
