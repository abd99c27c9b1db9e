#include "launches/queue_depth.h"

#include <algorithm>
#include <map>

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t full = 1024;  // as HTA takes it; unverified per driver

struct Change {
  RunTime time;
  std::int64_t by;
};

/// Sorted, with the depth that holds from each time on in place of the change.
std::vector<Change> depths_of(std::span<const Queued> queued) {
  std::vector<Change> changes;
  changes.reserve(2 * queued.size());
  for (const Queued& one : queued) {
    if (one.left <= one.entered) continue;
    changes.push_back({one.entered, 1});
    changes.push_back({one.left, -1});
  }
  std::ranges::sort(changes, {}, &Change::time);
  std::int64_t depth = 0;
  for (Change& change : changes) change.by = depth += change.by;
  return changes;
}

/// Time at each depth, and what of depth 0 nothing ran in.
struct Time {
  std::map<std::int64_t, std::int64_t> at_depth;
  std::int64_t all = 0;
  std::int64_t empty_and_idle = 0;
};

std::int64_t depth_at_share(const Time& time, double share) {
  const double wanted = share * static_cast<double>(time.all);
  std::int64_t seen = 0;
  for (const auto& [depth, ns] : time.at_depth) {
    seen += ns;
    if (static_cast<double>(seen) >= wanted) return depth;
  }
  return 0;
}

}  // namespace

QueueDepth queue_depth(std::span<const Queued> queued, const IntervalSet& busy, std::span<const TimeRange> windows) {
  const std::vector<Change> depths = depths_of(queued);
  const auto intervals = busy.intervals();
  Time time;
  std::size_t next = 0;       // first change behind the current time
  std::size_t next_busy = 0;  // first interval that ends behind it
  for (const TimeRange& window : windows) {
    for (RunTime now = window.begin; now < window.end;) {
      while (next < depths.size() && depths[next].time <= now) ++next;
      while (next_busy < intervals.size() && intervals[next_busy].end <= now) ++next_busy;
      RunTime until = next < depths.size() ? std::min(depths[next].time, window.end) : window.end;
      const bool runs = next_busy < intervals.size() && intervals[next_busy].begin <= now;
      if (next_busy < intervals.size())
        until = std::min(until, runs ? intervals[next_busy].end : intervals[next_busy].begin);
      const std::int64_t ns = (until - now).count();
      const std::int64_t depth = next == 0 ? 0 : depths[next - 1].by;
      time.at_depth[depth] += ns;
      time.all += ns;
      if (depth == 0 && !runs) time.empty_and_idle += ns;
      now = until;
    }
  }
  QueueDepth result;
  if (time.all == 0) return result;
  const auto share = [&time](std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(time.all); };
  for (const auto& [depth, ns] : time.at_depth) {
    result.mean += static_cast<double>(depth) * share(ns);
    if (depth >= full) result.full_share += share(ns);
    if (ns > 0) result.most = std::max(result.most, depth);
  }
  result.median = depth_at_share(time, 0.5);
  result.p95 = depth_at_share(time, 0.95);
  const auto empty = time.at_depth.find(0);
  result.empty_share = empty == time.at_depth.end() ? 0 : share(empty->second);
  result.empty_and_idle_share = share(time.empty_and_idle);
  return result;
}

}  // namespace rankscope::analyzer
