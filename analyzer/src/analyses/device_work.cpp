#include "analyses/device_work.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyses/collectives.h"

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

/// The instants of `set` outside of `other`.
IntervalSet without(const IntervalSet& set, const IntervalSet& other) {
  std::vector<TimeRange> left;
  auto cut = other.intervals().begin();
  for (TimeRange interval : set.intervals()) {
    while (cut != other.intervals().end() && cut->end <= interval.begin) ++cut;
    for (auto at = cut; at != other.intervals().end() && at->begin < interval.end; ++at) {
      if (interval.begin < at->begin) left.push_back({interval.begin, at->begin});
      interval.begin = std::max(interval.begin, at->end);
    }
    if (!interval.empty()) left.push_back(interval);
  }
  return IntervalSet::from(std::move(left));
}

/// Measures ascending pieces inside a set.
class Inside {
 public:
  explicit Inside(const IntervalSet& set) : intervals_(set.intervals()) {}

  std::int64_t length_ns(TimeRange piece) {
    pass(piece.begin);
    std::int64_t sum = 0;
    for (std::size_t at = next_; at < intervals_.size() && intervals_[at].begin < piece.end; ++at)
      sum += intersect(intervals_[at], piece).length().count();
    return sum;
  }
  bool contains(RunTime time) {
    pass(time);
    return next_ < intervals_.size() && intervals_[next_].contains(time);
  }

 private:
  void pass(RunTime time) {
    while (next_ < intervals_.size() && intervals_[next_].end <= time) ++next_;
  }

  std::span<const TimeRange> intervals_;
  std::size_t next_ = 0;
};

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
