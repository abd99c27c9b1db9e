#include "rankscope/gui/models/timeline/snap.h"

#include <algorithm>
#include <chrono>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/session/moments.h"

namespace rankscope::gui {
namespace {

class NearestEdge {
 public:
  NearestEdge(RunTime moment, nanoseconds reach) : moment_(moment), found_(moment), distance_(reach) {}

  void consider(TimeRange time) {
    consider(time.begin);
    consider(time.end);
  }
  [[nodiscard]] RunTime found() const { return found_; }

 private:
  void consider(RunTime edge) {
    const nanoseconds distance = std::chrono::abs(edge - moment_);
    if (distance > distance_ || (distance == distance_ && any_)) return;
    distance_ = distance;
    found_ = edge;
    any_ = true;
  }

  RunTime moment_;
  RunTime found_;
  nanoseconds distance_;
  bool any_ = false;
};

/// Events of a row do not overlap: no edge is nearer than those of the nearest event and of the two beside it.
void consider_row(const lod::RowLod& row, RunTime moment, nanoseconds reach, NearestEdge& nearest) {
  const auto place = row.at(moment, reach);
  if (!place) return;
  const lod::Place first = *place == 0 ? 0 : *place - 1;
  for (lod::Place one = first; one < row.size() && one <= *place + 1; ++one) nearest.consider(row.span(one).time);
}

}  // namespace

RunTime snapped(const Facts& facts, const SnapTo& to, RunTime moment, nanoseconds reach) {
  NearestEdge nearest{moment, reach};
  if (to.lane.is_set()) {
    const auto& rows = facts.lod->lane(to.lane).rows;
    const std::size_t end = std::min<std::size_t>(rows.size(), std::size_t{to.first_row} + to.rows);
    for (std::size_t row = to.first_row; row < end; ++row) consider_row(rows[row], moment, reach, nearest);
  }
  for (const RankId rank : to.ranks)
    for (const analyzer::StepWindow& step : steps_of(facts.report.get(), rank)) nearest.consider(step.window);
  return nearest.found();
}

}  // namespace rankscope::gui
