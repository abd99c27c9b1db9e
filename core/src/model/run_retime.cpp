// A copy of a run with the clock of each process read in run time.
#include <algorithm>
#include <cmath>

#include "rankscope/core/model/run.h"
#include "run_builder_pending.h"

namespace rankscope {
namespace {

constexpr std::int64_t farthest_ns = std::int64_t{1} << 62;

std::int64_t saturating_difference(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return std::clamp(result, -farthest_ns, farthest_ns);
  return a < b ? -farthest_ns : farthest_ns;
}

TimeRange run_time(const ClockMap& map, TimeRange shown) {
  return {map.run_time(shown.begin), map.run_time(shown.end)};
}

/// Times that differed by a nanosecond may have become equal, which could break the order of begins and longer-first.
/// They are kept apart by that nanosecond.
class InOrder {
 public:
  TimeRange operator()(const ClockMap& map, const Span& span) {
    const bool follows = span.lane == lane_ && shown_ < span.time.begin;
    TimeRange time = run_time(map, span.time);
    const bool begins_together = span.lane == lane_ && shown_ == span.time.begin;
    if (follows && time.begin <= begin_) time.begin = begin_ + nanoseconds{1};
    if (begins_together) time.begin = begin_;
    time.end = std::max(time.begin, time.end);
    lane_ = span.lane;
    shown_ = span.time.begin;
    begin_ = time.begin;
    return time;
  }

 private:
  LaneId lane_{};
  RunTime shown_{};
  RunTime begin_{};
};

void move_collective(const ClockMap& map, std::span<const Span> spans, Collective& collective) {
  collective.enqueued = map.run_time(collective.enqueued);
  if (collective.state == CommState::enqueued) return;
  const bool finished = collective.state == CommState::finished;
  collective.started = map.run_time(collective.started);
  if (finished) collective.finished = map.run_time(collective.finished);
  if (!collective.span.is_set()) return;
  const TimeRange& span = spans[collective.span.index()].time;  // apart by a nanosecond at most
  collective.enqueued = std::min(collective.enqueued, span.begin);
  collective.started = span.begin;
  if (finished) collective.finished = span.end;
}

}  // namespace

RunTime ClockMap::run_time(RunTime shown) const {
  const auto since = static_cast<double>(saturating_difference(ns_of(shown), ns_of(pivot)));
  const double correction = (ahead_fine_ns + rate * since) / (1 + rate);
  const std::int64_t coarse = saturating_difference(ns_of(shown), ahead.count());
  if (std::abs(correction) >= static_cast<double>(farthest_ns)) return at(coarse);
  return at(saturating_difference(coarse, std::llround(correction)));
}

/// Strings are interned again in their order, which gives each its old id: the table itself cannot be copied.
std::unique_ptr<Run> RunBuilder::Pending::copy_of(const Run& run) {
  std::unique_ptr<Run> copy{new Run};
  for (std::uint32_t id = 0; id < run.strings_.size(); ++id) copy->strings_.intern(run.strings_.text(StringId{id}));
  copy->info_ = run.info_;
  copy->quality_ = run.quality_;
  copy->processes_ = run.processes_;
  copy->ranks_ = run.ranks_;
  copy->rank_process_ = run.rank_process_;
  copy->accelerated_ = run.accelerated_;
  copy->lanes_ = run.lanes_;
  copy->spans_ = run.spans_;
  copy->marks_ = run.marks_;
  copy->attributes_ = run.attributes_;
  copy->span_attributes_ = run.span_attributes_;
  copy->mark_attributes_ = run.mark_attributes_;
  copy->devices_ = run.devices_;
  copy->links_ = run.links_;
  copy->groups_ = run.groups_;
  copy->collectives_ = run.collectives_;
  copy->counters_ = run.counters_;
  copy->samples_ = run.samples_;
  copy->extent_ = run.extent_;
  return copy;
}

std::shared_ptr<const Run> RunBuilder::retimed(const Run& run, std::span<const ClockMap> by_process) {
  RS_CHECK(by_process.size() == run.processes_.size());
  const std::shared_ptr<Run> copy{Pending::copy_of(run)};
  const auto map_of = [&](LaneId lane) -> const ClockMap& { return by_process[run.lane(lane).process]; };
  for (std::size_t row = 0; row < copy->processes_.size(); ++row)
    copy->processes_[row].recorded = run_time(by_process[row], run.processes_[row].recorded);
  InOrder in_order;
  for (Span& span : copy->spans_) {
    const Span shown = span;
    span.time = in_order(map_of(shown.lane), shown);
  }
  for (QualityPlace& place : copy->info_.places)
    if (place.time && std::ranges::find(run.ranks_, place.rank) != run.ranks_.end())
      place.time = run_time(by_process[run.process_row_of(place.rank)], *place.time);
  for (Mark& mark : copy->marks_) mark.time = map_of(mark.lane).run_time(mark.time);
  for (Collective& collective : copy->collectives_) {
    const LaneId lane = collective.lane.is_set() ? collective.lane : collective.enqueued_on;
    const std::uint32_t process = lane.is_set() ? run.lane(lane).process : run.process_row_of(collective.rank);
    move_collective(by_process[process], copy->spans_, collective);
  }
  for (const CounterTrack& track : copy->counters_)
    for (CounterSample& sample : std::span{copy->samples_}.subspan(track.first_sample, track.sample_count))
      sample.time = by_process[track.process].run_time(sample.time);
  Pending::sort_marks(*copy);
  Pending::measure(*copy);
  return copy;
}

}  // namespace rankscope
