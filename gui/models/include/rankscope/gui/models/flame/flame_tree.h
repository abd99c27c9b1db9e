// Nested events of a rank added up by their path: what called what, and how long that took.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "rankscope/gui/models/statistics/range_statistics.h"

namespace rankscope::gui {

/// All events of one name that have the same names around them. The outermost frame is the rank, below it are lanes.
struct FlameFrame {
  StringId name{};  ///< none: a rank or a lane
  SpanKind kind = SpanKind::user;
  LaneId lane{};                          ///< of a lane
  std::uint32_t parent = 0;               ///< its own place: the outermost frame
  std::vector<std::uint32_t> children{};  ///< the longest first
  std::int64_t count = 0;                 ///< events that touch the range
  std::int64_t total_ns = 0;              ///< inside the range
  std::int64_t self_ns = 0;               ///< inside the range, in nothing that is nested in it
  std::int64_t longest_ns = 0;            ///< of one of them, inside the range
  SpanId longest{};                       ///< that one
  std::int64_t drawn_ns = 0;              ///< total, or what the children take where these overlap
};

/// Whose events are put together, and in which stretch of time.
struct FlameQuestion {
  RankId rank;
  TimeRange range;
  std::vector<LaneId> lanes{};  ///< ascending; of other ranks are left out; empty: all threads of the rank

  bool operator==(const FlameQuestion&) const = default;
};

/// Events that have the same names around them, as one frame each.
struct FlameTree {
  FlameQuestion question;
  std::vector<FlameFrame> frames;  ///< parents before their children; never empty

  [[nodiscard]] const FlameFrame& frame(std::uint32_t place) const { return frames[place]; }
  /// The frame of this tree that has the same names around it as a frame of another tree of the same run; of what it
  /// lacks the nearest frame around it.
  [[nodiscard]] std::uint32_t like(const FlameTree& other, std::uint32_t frame) const;
  /// The frame that an event belongs to; nothing where its lane or path is not in the tree.
  [[nodiscard]] std::optional<std::uint32_t> frame_of(const Run& run, SpanId span) const;

 private:
  [[nodiscard]] std::optional<std::uint32_t> child_like(std::uint32_t place, const FlameFrame& wanted) const;
};

/// Nothing if it was stopped. Steps count as one name, whatever their number.
[[nodiscard]] std::optional<FlameTree> flame_tree(const Run& run, const LaneBlocks& blocks,
                                                  const FlameQuestion& question, const std::stop_token& stop);

/// A frame as it is drawn.
struct FlameBox {
  std::uint32_t frame = 0;
  int row = 0;
  double left = 0;
  double width = 0;
  std::uint32_t more = 0;  ///< > 0: so many frames, this one first, that are too narrow to be drawn one by one
  bool operator==(const FlameBox&) const = default;
};

/// `top` fills the width, as does all that is around it; below it each frame is as wide as its share of that above it.
[[nodiscard]] std::vector<FlameBox> flame_boxes(const FlameTree& tree, std::uint32_t top, double width);

}  // namespace rankscope::gui
