#include "rankscope/gui/models/statistics/lane_blocks.h"

namespace rankscope::gui {

LaneBlocks::LaneBlocks(const Run& run) {
  for (const Lane& lane : run.lanes()) {
    first_of_lane_.push_back(latest_end_.size());
    const std::span<const Span> spans = run.spans_of(lane);
    for (std::size_t begin = 0; begin < spans.size(); begin += block) {
      const auto part = spans.subspan(begin, std::min(block, spans.size() - begin));
      latest_end_.push_back(std::ranges::max(part, {}, [](const Span& span) { return span.time.end; }).time.end);
    }
  }
}

}  // namespace rankscope::gui
