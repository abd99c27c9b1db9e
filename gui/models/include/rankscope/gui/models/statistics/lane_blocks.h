// Blocks of a lane's spans, to find those of a range.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "rankscope/core/model/run.h"

namespace rankscope::gui {

/// Finds the spans of a lane that touch a range without reading those before it, also where long ones reach into it.
class LaneBlocks {
 public:
  explicit LaneBlocks(const Run& run);

  /// visit(span) in their order; false from it ends the walk.
  template <class Visit>
  void over(const Run& run, const Lane& lane, TimeRange range, Visit visit) const;

 private:
  static constexpr std::size_t block = 256;
  std::vector<RunTime> latest_end_;         // of each block of spans
  std::vector<std::size_t> first_of_lane_;  // place of the lane's first block
};

template <class Visit>
void LaneBlocks::over(const Run& run, const Lane& lane, TimeRange range, Visit visit) const {
  const std::span<const Span> spans = run.spans_of(lane);
  const std::size_t first = first_of_lane_[run.id_of(lane).index()];
  for (std::size_t begin = 0; begin < spans.size(); begin += block) {
    if (spans[begin].time.begin >= range.end) return;
    if (latest_end_[first + begin / block] <= range.begin) continue;
    for (const Span& span : spans.subspan(begin, std::min(block, spans.size() - begin)))
      if (span.time.begin < range.end && span.time.end > range.begin && !visit(span)) return;
  }
}

}  // namespace rankscope::gui
