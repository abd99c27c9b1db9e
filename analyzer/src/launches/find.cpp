#include "launches/parts.h"

#include <algorithm>
#include <map>

#include "launches/queue_depth.h"
#include "math/interval_set.h"
#include "math/statistics.h"
#include "rankscope/core/model/run.h"
#include "split/device_record.h"
#include "split/device_work.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"

namespace rankscope::analyzer {
namespace {

Durations durations_of(std::vector<std::int64_t>& values) {
  std::ranges::sort(values);
  return {sorted_median(values), sorted_quantile(values, 0.9), sorted_quantile(values, 0.99)};
}

/// A graph launch starts several activities, so that its call is that of none of them.
enum class LaunchedBy : std::uint8_t { call, graph };

/// What belongs to one row, while it is collected.
struct Collected {
  LaunchRow row;
  std::vector<std::int64_t> calls, delays, issues;
  std::vector<Queued> queued;
  std::vector<TimeRange> busy;

  void take(const Span& work, const Span* call, LaunchedBy by) {
    if (call == nullptr) {
      ++row.without_launch;
      return;
    }
    ++row.launches;
    if (work.time.begin < call->time.end) ++row.began_in_call;
    if (work.time.begin < call->time.begin) ++row.began_before_call;
    delays.push_back(std::max<std::int64_t>(0, (work.time.begin - call->time.end).count()));
    issues.push_back((work.time.begin - call->time.begin).count());
    if (by == LaunchedBy::graph) {
      ++row.in_graphs;
      return;
    }
    calls.push_back(call->time.length().count());
    if (work.kind == SpanKind::memory) return;
    ++row.kernels;
    row.kernels_ns += work.time.length().count();
    if (work.time.length() >= call->time.length()) return;
    ++row.short_kernels;
    row.short_ns += work.time.length().count();
  }

  LaunchRow finish(std::span<const TimeRange> windows) {
    row.call = durations_of(calls);
    row.delay = durations_of(delays);
    row.issue = durations_of(issues);
    row.queue = queue_depth(queued, IntervalSet::from(std::move(busy)), windows);
    return row;
  }
};

/// Per host call how much it started, up to 2.
std::vector<std::uint8_t> uses_of_calls(const Run& run) {
  std::vector<std::uint8_t> uses(run.spans().size(), 0);
  for (const Link& link : run.links())
    if (link.kind == LinkKind::launch && uses[link.from.index()] < 2) ++uses[link.from.index()];
  return uses;
}

class RankLaunches {
 public:
  RankLaunches(const Run& run, RankId rank, std::vector<TimeRange> windows, const std::vector<std::uint8_t>& uses)
      : run_(run), windows_(std::move(windows)), uses_(uses) {
    all_.row.rank = rank;
    const auto process = run.process_row_of(rank);
    for (const Lane& lane : run.lanes())
      if (lane.process == process && lane.kind == LaneKind::stream) add_stream(lane);
  }

  void append_to(std::vector<LaunchRow>& rows) {
    if (all_.row.launches == 0) return;
    rows.push_back(all_.finish(windows_));
    for (auto& [key, stream] : streams_)
      if (stream.row.launches > 0) rows.push_back(stream.finish(windows_));
  }

 private:
  void add_stream(const Lane& lane) {
    Collected& stream = streams_[{lane.device, lane.number}];
    stream.row.rank = all_.row.rank;
    stream.row.device = lane.device;
    stream.row.stream = lane.number;
    std::size_t window = 0;
    auto link = std::ranges::lower_bound(run_.links(), std::pair{LinkKind::launch, SpanId{lane.first_span}}, {},
                                         [](const Link& each) {
                                           return std::pair{each.kind, each.to};
                                         });
    for (const Span& span : run_.spans_of(lane)) {
      if (!is_activity(span.kind)) continue;
      const auto is_launch = [&] { return link != run_.links().end() && link->kind == LinkKind::launch; };
      while (is_launch() && link->to < run_.id_of(span)) ++link;
      const bool launched = is_launch() && link->to == run_.id_of(span);
      const Span* const call = launched ? &run_.span(link->from) : nullptr;
      for (Collected* const to : {&all_, &stream}) {
        to->busy.push_back(span.time);
        if (call != nullptr) to->queued.push_back({call->time.begin, span.time.begin});
      }
      while (window < windows_.size() && windows_[window].end <= span.time.begin) ++window;
      if (window == windows_.size() || span.time.begin < windows_[window].begin) continue;
      const bool in_graph = call != nullptr && uses_[link->from.index()] > 1;
      for (Collected* const to : {&all_, &stream})
        to->take(span, call, in_graph ? LaunchedBy::graph : LaunchedBy::call);
    }
  }

  const Run& run_;
  std::vector<TimeRange> windows_;
  const std::vector<std::uint8_t>& uses_;
  Collected all_;
  std::map<std::pair<std::int32_t, std::int64_t>, Collected> streams_;
};

std::string why_no_launches(const Run& run) {
  const bool any = std::ranges::find(run.links(), LinkKind::launch, &Link::kind) != run.links().end();
  return any ? "no work with a recorded launch started in the counted part of the recording"
             : "the recording has no launch calls";
}

}  // namespace

Section<LaunchesSection> launches_of(const Run& run, const Section<StepsSection>& steps, const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  const auto counts = [&](RankId rank) { return run.has_accelerator(rank) && is_asked_for(options, rank); };
  if (std::ranges::none_of(run.ranks(), counts)) return no_device_work(run);
  const std::vector<std::uint8_t> uses = uses_of_calls(run);
  LaunchesSection section;
  for (const RankId rank : run.ranks()) {
    if (!counts(rank)) continue;
    RankLaunches{run, rank, counted_windows(run, rank, steps).ranges, uses}.append_to(section.rows);
  }
  if (section.rows.empty()) return unavailable(why_no_launches(run));
  return section;
}

}  // namespace rankscope::analyzer
