#include "math/interval_set.h"

#include <algorithm>
#include <utility>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

IntervalSet IntervalSet::from(std::vector<TimeRange> intervals) {
  std::erase_if(intervals, [](const TimeRange& range) { return range.empty(); });
  if (!std::ranges::is_sorted(intervals, {}, &TimeRange::begin)) std::ranges::sort(intervals, {}, &TimeRange::begin);
  IntervalSet set;
  for (const TimeRange& range : intervals) {
    if (!set.intervals_.empty() && range.begin <= set.intervals_.back().end) {
      set.intervals_.back().end = std::max(set.intervals_.back().end, range.end);
    } else {
      set.intervals_.push_back(range);
    }
  }
  return set;
}

std::int64_t IntervalSet::length_ns() const {
  std::int64_t sum = 0;
  for (const TimeRange& range : intervals_) sum += range.length().count();
  return sum;
}

Sweep::Sweep(std::span<const IntervalSet> sets) : sets_(sets), next_(sets.size(), 0) {
  RS_CHECK(sets.size() <= max_sets);
}

Sweep::Stretch Sweep::stretch_at(RunTime now, RunTime limit) {
  Stretch stretch{limit, 0};
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const std::span<const TimeRange> intervals = sets_[i].intervals();
    std::size_t& next = next_[i];
    while (next < intervals.size() && intervals[next].end <= now) ++next;
    if (next == intervals.size()) continue;
    const bool inside = intervals[next].begin <= now;
    if (inside) stretch.bits |= 1U << i;
    stretch.until = std::min(stretch.until, inside ? intervals[next].end : intervals[next].begin);
  }
  return stretch;
}

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

IntervalSet both(const IntervalSet& a, const IntervalSet& b) {
  std::vector<TimeRange> common;
  auto at = b.intervals().begin();
  for (const TimeRange& interval : a.intervals()) {
    while (at != b.intervals().end() && at->end <= interval.begin) ++at;
    for (auto other = at; other != b.intervals().end() && other->begin < interval.end; ++other)
      common.push_back(intersect(interval, *other));
  }
  return IntervalSet::from(std::move(common));
}

}  // namespace rankscope::analyzer
