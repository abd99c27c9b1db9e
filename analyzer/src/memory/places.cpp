#include "memory/places.h"

#include "steps/range_kinds.h"

namespace rankscope::analyzer {

PlaceNames PlaceFinder::at(LaneId lane, RunTime time) {
  Walk& walk = walks_[lane.index()];
  const auto close_until = [&](RunTime now) {
    while (!walk.open.empty() && walk.open.back().end <= now) {
      walk.place = walk.open.back().outside;
      walk.open.pop_back();
    }
  };
  const auto spans = run_.spans_of(run_.lane(lane));
  for (; walk.next < spans.size() && spans[walk.next].time.begin <= time; ++walk.next) {
    const Span& span = spans[walk.next];
    const Holds held = holds(span.kind);
    if (held == Holds::nothing) continue;
    close_until(span.time.begin);
    walk.open.push_back({span.time.end, walk.place});
    if (held == Holds::range) {
      walk.place.range = span.name;
    } else {
      if (!walk.place.outer.is_set()) walk.place.outer = span.name;
      walk.place.op = span.name;
    }
  }
  close_until(time);
  PlaceNames place = walk.place;
  if (place.op.is_set()) place.range = {};
  if (place.outer == place.op) place.outer = {};
  return place;
}

}  // namespace rankscope::analyzer
