#include "split/device_work.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "collectives/find.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

/// As the time split sees it (layers.cpp).
std::optional<ActivityClass> class_of(const Run& run, const Lane& lane, const Span& span) {
  if (span.kind == SpanKind::comm) {
    if (span.collective == Span::no_collective) return ActivityClass::comm;
    const Collective& collective = run.collectives()[span.collective];
    return collective.group.is_set() && !is_shared(run, collective) ? ActivityClass::memory : ActivityClass::comm;
  }
  if (lane.kind != LaneKind::stream) return std::nullopt;
  if (span.kind == SpanKind::compute || span.kind == SpanKind::graph) return ActivityClass::compute;
  if (span.kind == SpanKind::memory) return ActivityClass::memory;
  return std::nullopt;
}

/// Charges each instant of `open` once to the activity of a class that began first.
void charge(std::vector<Activity>& activities, ActivityClass kind, const IntervalSet& open) {
  Inside inside{open};
  RunTime covered = RunTime::min();
  for (Activity& activity : activities) {
    if (activity.kind != kind || activity.time.end <= covered) continue;
    const TimeRange own{std::max(activity.time.begin, covered), activity.time.end};
    activity.exclusive_ns = inside.length_ns(own);
    covered = own.end;
  }
}

}  // namespace

bool is_activity(SpanKind kind) {
  return kind == SpanKind::compute || kind == SpanKind::graph || kind == SpanKind::memory || kind == SpanKind::comm;
}

std::vector<Activity> activities_of(const Run& run, RankId rank) {
  std::vector<Activity> all;
  const auto process = run.process_row_of(rank);
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || lane.kind == LaneKind::thread) continue;
    for (const Span& span : run.spans_of(lane))
      if (const auto kind = class_of(run, lane, span)) all.push_back({span.time, run.id_of(span), *kind});
  }
  std::ranges::sort(all, {}, [](const Activity& activity) { return std::pair{activity.time.begin, activity.span}; });
  return all;
}

DeviceWork device_work(const Run& run, RankId rank, const CountedWindows& windows) {
  DeviceWork work;
  work.activities = activities_of(run, rank);
  std::array<std::vector<TimeRange>, activity_class_count> ranges;
  for (const Activity& activity : work.activities)
    ranges[static_cast<std::size_t>(activity.kind)].push_back(activity.time);
  IntervalSet open = IntervalSet::from(windows.ranges);
  Inside counted{open};
  for (Activity& activity : work.activities)
    activity.counted = windows.steps == 0 || counted.contains(activity.time.begin);
  for (std::size_t kind = 0; kind < activity_class_count; ++kind) {
    work.sets[kind] = IntervalSet::from(std::move(ranges[kind]));
    charge(work.activities, static_cast<ActivityClass>(kind), open);
    open = without(open, work.sets[kind]);
  }
  return work;
}

}  // namespace rankscope::analyzer
