#include "rankscope/gui/models/timeline/hit_times.h"

#include <algorithm>

#include "rankscope/core/model/run.h"

namespace rankscope::gui {

std::optional<HitTimes> hit_times(const Run& run, const std::vector<bool>& lit, const std::stop_token& stop) {
  HitTimes times(run.processes().size());
  for (const Lane& lane : run.lanes()) {
    if (stop.stop_requested()) return std::nullopt;
    for (const Span& span : run.spans_of(lane))
      if (lit[span.name.index()]) times[lane.process].push_back(span.time.begin);
  }
  for (std::vector<RunTime>& of_process : times) {
    if (stop.stop_requested()) return std::nullopt;
    std::ranges::sort(of_process);
  }
  return times;
}

}  // namespace rankscope::gui
