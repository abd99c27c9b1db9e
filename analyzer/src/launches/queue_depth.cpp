#include "launches/queue_depth.h"

#include <algorithm>
#include <utility>

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t full = 1024;  // as HTA takes it; unverified per driver

std::int64_t depth_at_share(const DepthTimes& times, std::int64_t all_ns, double share) {
  const double wanted = share * static_cast<double>(all_ns);
  std::int64_t seen = 0;
  for (const auto& [depth, ns] : times.ns_at) {
    seen += ns;
    if (static_cast<double>(seen) >= wanted) return depth;
  }
  return 0;
}

}  // namespace

void DepthTimes::add(const DepthTimes& more, std::int64_t times) {
  for (const auto& [depth, ns] : more.ns_at) ns_at[depth] += times * ns;
  empty_and_idle_ns += times * more.empty_and_idle_ns;
}

QueueWalk::QueueWalk(std::span<const Queued> queued, IntervalSet busy)
    : depths_(depths_of(queued)), busy_(std::move(busy)) {}

std::vector<QueueWalk::Depth> QueueWalk::depths_of(std::span<const Queued> queued) {
  std::vector<Depth> changes;  // by how much, until they are summed up
  changes.reserve(2 * queued.size());
  for (const Queued& one : queued) {
    if (one.left <= one.entered) continue;
    changes.push_back({one.entered, 1});
    changes.push_back({one.left, -1});
  }
  std::ranges::sort(changes, {}, &Depth::from);
  std::int64_t depth = 0;
  for (Depth& change : changes) change.depth = depth += change.depth;
  return changes;
}

DepthTimes QueueWalk::over(TimeRange window) {
  const auto intervals = busy_.intervals();
  DepthTimes times;
  for (RunTime now = window.begin; now < window.end;) {
    while (next_ < depths_.size() && depths_[next_].from <= now) ++next_;
    while (next_busy_ < intervals.size() && intervals[next_busy_].end <= now) ++next_busy_;
    RunTime until = next_ < depths_.size() ? std::min(depths_[next_].from, window.end) : window.end;
    const bool runs = next_busy_ < intervals.size() && intervals[next_busy_].begin <= now;
    if (next_busy_ < intervals.size())
      until = std::min(until, runs ? intervals[next_busy_].end : intervals[next_busy_].begin);
    const std::int64_t ns = (until - now).count();
    const std::int64_t depth = next_ == 0 ? 0 : depths_[next_ - 1].depth;
    times.ns_at[depth] += ns;
    if (depth == 0 && !runs) times.empty_and_idle_ns += ns;
    now = until;
  }
  return times;
}

QueueDepth queue_depth(const DepthTimes& times) {
  QueueDepth result;
  std::int64_t all_ns = 0;
  for (const auto& [depth, ns] : times.ns_at) all_ns += ns;
  if (all_ns == 0) return result;
  const auto share = [all_ns](std::int64_t ns) { return static_cast<double>(ns) / static_cast<double>(all_ns); };
  for (const auto& [depth, ns] : times.ns_at) {
    result.mean += static_cast<double>(depth) * share(ns);
    if (depth >= full) result.full_share += share(ns);
    if (ns > 0) result.most = std::max(result.most, depth);
  }
  result.median = depth_at_share(times, all_ns, 0.5);
  result.p95 = depth_at_share(times, all_ns, 0.95);
  const auto empty = times.ns_at.find(0);
  result.empty_share = empty == times.ns_at.end() ? 0 : share(empty->second);
  result.empty_and_idle_share = share(times.empty_and_idle_ns);
  return result;
}

QueueDepth queue_depth(std::span<const Queued> queued, const IntervalSet& busy, std::span<const TimeRange> windows) {
  QueueWalk walk{queued, busy};
  DepthTimes times;
  for (const TimeRange& window : windows) times.add(walk.over(window));
  return queue_depth(times);
}

}  // namespace rankscope::analyzer
