#include "split/device_idle.h"

#include <algorithm>
#include <map>
#include <optional>

#include "rankscope/core/model/run.h"
#include "split/device_work.h"
#include "split/host_timeline.h"
#include "split/layers.h"

namespace rankscope::analyzer {
namespace {

constexpr nanoseconds longest_kernel_gap{10'000};  // kappa of metrics.md 2.7

class Gaps {
 public:
  Gaps(const Run& run, RankId rank) : run_(run), activities_(activities_of(run, rank)) {
    const auto process = run.process_row_of(rank);
    if (const auto main = main_lane(run, rank)) main_ = main->index();
    host_end_ = end_of_host(run, rank);
    for (const Lane& lane : run.lanes()) {
      if (lane.process != process || lane.kind != LaneKind::thread) continue;
      for (const Span& span : run.spans_of(lane))
        if (span.kind == SpanKind::overhead) overheads_.push_back(span.time);
    }
    std::erase_if(activities_, [](const Activity& activity) { return activity.time.empty(); });
    overhead_ = IntervalSet::from(std::move(overheads_));
  }

  /// Tiles one gap with stretches.
  void explain(TimeRange gap, std::vector<IdleStretch>& out) {
    out_ = &out;
    while (next_ < activities_.size() && activities_[next_].time.begin < gap.end) ++next_;
    if (next_ == activities_.size()) return nothing_followed(gap);
    const SpanId follower = activities_[next_].span;
    const auto links = run_.links_to(LinkKind::launch, follower);
    if (!links.empty()) {
      const Span& call = run_.span(links.front().from);
      if (call.time.begin >= gap.begin) {
        return host_ran_dry(gap, std::min(call.time.begin, gap.end), call.lane.index(), IdleDetail::none);
      }
    }
    if (gap.length() <= longest_kernel_gap) return add(gap, {IdleCause::kernel_gap, IdleDetail::none, {}, {}});
    add(gap, {IdleCause::other, detail_of(gap, follower, links.empty()), {}, {}});
  }

  /// Until when a host that nothing blocked had not launched the first work after the stretch. Where its thread did
  /// nothing (one of autograd's), it may have waited for the main thread, which then decides.
  void host_late(TimeRange stretch, std::vector<TimeRange>& out) {
    while (next_ < activities_.size() &&
           (activities_[next_].time.begin < stretch.end || activities_[next_].kind == ActivityClass::comm))
      ++next_;
    if (next_ == activities_.size()) return;
    const auto links = run_.links_to(LinkKind::launch, activities_[next_].span);
    if (links.empty()) return;
    const Span& call = run_.span(links.front().from);
    const std::size_t lane = call.lane.index();
    const auto add_free = [&out](TimeRange time, const HostPlace& place) {
      if (!place.blocks && !time.empty()) out.push_back(time);
    };
    const TimeRange until_launch{stretch.begin, std::min(call.time.begin, stretch.end)};
    timeline(lane).over(until_launch, [&](TimeRange time, const HostPlace& place) {
      if (place == HostPlace{} && main_ && *main_ != lane)
        timeline(*main_).over(time, add_free);
      else
        add_free(time, place);
    });
  }

 private:
  void add(TimeRange time, const IdleReason& reason) {
    if (time.empty()) return;
    if (!out_->empty() && out_->back().time.end == time.begin && out_->back().reason == reason)
      out_->back().time.end = time.end;
    else
      out_->push_back({time, reason});
  }

  /// After the last work: what the main thread did, as far as it was recorded.
  void nothing_followed(TimeRange gap) {
    const RunTime known = std::clamp(host_end_, gap.begin, gap.end);
    host_ran_dry({gap.begin, known}, known, main_, IdleDetail::nothing_followed);
    add({known, gap.end}, {IdleCause::other, IdleDetail::nothing_followed, {}, {}});
  }

  /// Rule (a): what the launching thread did until it launched; then the launch itself.
  void host_ran_dry(TimeRange gap, RunTime launched, std::optional<std::size_t> lane, IdleDetail detail) {
    if (!lane) return add(gap, {IdleCause::other, detail, {}, {}});
    const HostTimeline& host = timeline(*lane);
    const HostPlace before = host.at(gap.begin);
    // Without the wait the host would have been ahead by as much as the wait held it up, and by no more.
    const RunTime held_up = std::min(gap.begin + host.blocked_around(gap.begin).length(), launched);
    host.over({gap.begin, held_up}, [&](TimeRange time, const HostPlace& place) {
      if (place.loads_data)
        add(time, {IdleCause::data, detail, place.range, {}});
      else
        add(time, {IdleCause::sync, detail, before.range, before.call});
    });
    host.over({held_up, launched}, [&](TimeRange time, const HostPlace& place) {
      if (place.loads_data)
        add(time, {IdleCause::data, detail, place.range, {}});
      else if (place.waits)
        add(time, {IdleCause::sync, detail, place.range, place.call});
      else
        add(time, {IdleCause::host, detail, place.range, place.call});
    });
    const HostPlace launch = host.at(launched);
    add({launched, gap.end}, {IdleCause::host, IdleDetail::launching, launch.range, launch.call});
  }

  /// Rule (c).
  IdleDetail detail_of(TimeRange gap, SpanId follower, bool no_launch) const {
    if (waited_for_event(follower)) return IdleDetail::waits_for_event;
    if (2 * overlap_with_overhead(gap) >= gap.length().count()) return IdleDetail::profiler_overhead;
    if (no_launch) return IdleDetail::no_launch_record;
    return continues_graph(follower) ? IdleDetail::inside_graph : IdleDetail::none;
  }

  /// True if the same call launched an activity and the one before it on its stream.
  [[nodiscard]] bool continues_graph(SpanId follower) const {
    const Lane& lane = run_.lane(run_.span(follower).lane);
    for (std::uint32_t row = follower.value; row-- > lane.first_span;) {
      const Span& before = run_.spans()[row];
      if (!is_activity(before.kind)) continue;
      const auto own = run_.links_to(LinkKind::launch, follower);
      const auto other = run_.links_to(LinkKind::launch, run_.id_of(before));
      return !own.empty() && !other.empty() && own.front().from == other.front().from;
    }
    return false;
  }

  /// True if a wait of its stream stands between an activity and the one before it.
  [[nodiscard]] bool waited_for_event(SpanId follower) const {
    const Lane& lane = run_.lane(run_.span(follower).lane);
    for (std::uint32_t row = follower.value; row-- > lane.first_span;) {
      const Span& before = run_.spans()[row];
      if (is_activity(before.kind)) return false;
      if (before.kind == SpanKind::sync && run_.text(before.name).find("Wait Event") != std::string_view::npos)
        return true;
    }
    return false;
  }

  [[nodiscard]] std::int64_t overlap_with_overhead(TimeRange gap) const {
    const auto intervals = overhead_.intervals();
    std::int64_t sum = 0;
    for (auto at = std::ranges::upper_bound(intervals, gap.begin, {}, &TimeRange::end);
         at != intervals.end() && at->begin < gap.end; ++at)
      sum += (std::min(at->end, gap.end) - std::max(at->begin, gap.begin)).count();
    return sum;
  }

  const HostTimeline& timeline(std::size_t lane) {
    const auto found = timelines_.find(lane);
    if (found != timelines_.end()) return found->second;
    return timelines_.try_emplace(lane, run_, run_.lanes()[lane]).first->second;
  }

  const Run& run_;
  std::vector<Activity> activities_;
  std::vector<TimeRange> overheads_;
  IntervalSet overhead_;
  std::size_t next_ = 0;  // first activity that does not begin before the gap's end
  std::optional<std::size_t> main_;
  RunTime host_end_ = RunTime::min();
  std::map<std::size_t, HostTimeline> timelines_;  // by lane
  std::vector<IdleStretch>* out_ = nullptr;
};

}  // namespace

std::vector<TimeRange> host_late_during(const Run& run, RankId rank, const IntervalSet& communication) {
  std::vector<TimeRange> late;
  Gaps gaps{run, rank};
  for (const TimeRange& stretch : communication.intervals()) gaps.host_late(stretch, late);
  return late;
}

std::vector<IdleStretch> device_idle(const Run& run, RankId rank, const IntervalSet& busy, TimeRange window) {
  std::vector<IdleStretch> stretches;
  Gaps gaps{run, rank};
  RunTime idle_since = window.begin;
  for (const TimeRange& interval : busy.intervals()) {
    if (interval.begin >= window.end) break;
    if (interval.begin > idle_since) gaps.explain({idle_since, interval.begin}, stretches);
    idle_since = std::max(idle_since, interval.end);
  }
  if (idle_since < window.end) gaps.explain({idle_since, window.end}, stretches);
  return stretches;
}

}  // namespace rankscope::analyzer
