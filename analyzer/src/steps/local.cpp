#include "steps/local.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

/// Tiles the time of a rank (1.2). A jump in the indices ends a recording window: its last step ends with its own mark.
std::vector<StepWindow> tile(RankId rank, std::span<const StepMark> marks) {
  std::vector<StepWindow> windows;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool followed = i + 1 < marks.size() && marks[i + 1].index == marks[i].index + 1;
    const RunTime end = followed ? marks[i + 1].time.begin : marks[i].time.end;
    const TimeRange window{marks[i].time.begin, end};
    windows.push_back(
        {rank, marks[i].index, window, !marks[i].cut && !window.empty(), marks[i].sums.is_set(), marks[i].sums});
  }
  return windows;
}

/// Until when the accelerators of a process worked on what was launched before a time.
class DeviceTail {
 public:
  explicit DeviceTail(std::vector<TimeRange> launches) : launches_(std::move(launches)) {
    std::ranges::sort(launches_, {}, &TimeRange::begin);
    for (std::size_t i = 1; i < launches_.size(); ++i)
      launches_[i].end = std::max(launches_[i].end, launches_[i - 1].end);
  }
  /// The time itself where nothing was running any more.
  [[nodiscard]] RunTime of(RunTime time) const {
    const auto later = std::ranges::lower_bound(launches_, time, {}, &TimeRange::begin);
    return later == launches_.begin() ? time : std::max(time, std::prev(later)->end);
  }

 private:
  std::vector<TimeRange> launches_;  // launched at begin; end = latest end of all up to this one
};

// Where more of what follows on a stream lacks its launch, launches are not recorded reliably; fewer show nothing.
constexpr std::int64_t one_of_so_many = 20;

/// RunTime::min() where the stream has none.
RunTime end_of_leftovers(const Run& run, const Lane& stream) {
  RunTime end = RunTime::min();
  std::int64_t before = 0;  // the first that was launched
  std::int64_t launched = 0;
  std::int64_t not_launched = 0;  // behind that first one
  for (const Span& span : run.spans_of(stream)) {
    if (span.kind == SpanKind::sync) continue;  // a record of waiting is no work
    const bool has_launch = !run.links_to(LinkKind::launch, run.id_of(span)).empty();
    if (has_launch)
      ++launched;
    else if (launched > 0)
      ++not_launched;
    else
      ++before, end = std::max(end, span.time.end);
  }
  const bool reliable = launched >= one_of_so_many && before <= launched && not_launched * one_of_so_many <= launched;
  return reliable ? end : RunTime::min();
}

/// By process: when what was launched before the recording began had ended; RunTime::min() where nothing was. Streams
/// are queues, so that it is what stands before the first work with a recorded launch on its stream; work without a
/// launch is no sign of it where launches are missing later, too, where few are recorded, or where it is more than all
/// that follows.
std::vector<RunTime> ends_of_leftovers(const Run& run) {
  std::vector<RunTime> ends(run.processes().size(), RunTime::min());
  for (const Lane& lane : run.lanes())
    if (lane.kind == LaneKind::stream) ends[lane.process] = std::max(ends[lane.process], end_of_leftovers(run, lane));
  return ends;
}

/// By process: from each launch to the end of its work; what was launched before the recording began comes before all.
/// One walk over the links, however many ranks there are.
std::vector<std::vector<TimeRange>> launches_by_process(const Run& run, std::span<const RunTime> leftovers) {
  std::vector<std::vector<TimeRange>> launches(run.processes().size());
  for (std::size_t process = 0; process < leftovers.size(); ++process)
    if (leftovers[process] > RunTime::min()) launches[process].push_back({RunTime::min(), leftovers[process]});
  for (const Link& link : run.links()) {
    if (link.kind != LinkKind::launch) continue;
    const Span& call = run.span(link.from);
    launches[run.lane(call.lane).process].push_back({call.time.begin, run.span(link.to).time.end});
  }
  return launches;
}

/// A step of an accelerator begins when the work of the steps before it has ended (1.2).
std::vector<StepMark> with_device_work(std::vector<TimeRange> launches, std::vector<StepMark> marks) {
  const DeviceTail tail{std::move(launches)};
  for (StepMark& mark : marks)
    if (!mark.sums.is_set()) mark.time = {tail.of(mark.time.begin), tail.of(mark.time.end)};
  return marks;
}

/// Work launched before the recording began ends early in it: what ends after most of its steps is something else.
bool outlasts_most(RunTime leftovers, std::span<const StepMark> marks) {
  const auto over = std::ranges::count_if(marks, [&](const StepMark& mark) { return mark.time.end <= leftovers; });
  return marks.size() > 1 && 2 * over > std::ssize(marks);
}

/// The marks of the best source that the rank has.
std::pair<MarkSource, std::vector<StepMark>> best_marks(const Run& run, RankId rank) {
  std::vector<StepMark> marks = step_marks(run, rank, MarkSource::step_spans);
  if (!marks.empty()) return {MarkSource::step_spans, std::move(marks)};
  return {MarkSource::named_ranges, step_marks(run, rank, MarkSource::named_ranges)};
}

}  // namespace

std::vector<StepsPart> local_steps(const Run& run) {
  std::vector<RunTime> leftovers = ends_of_leftovers(run);
  std::vector<std::pair<MarkSource, std::vector<StepMark>>> marks_of_ranks;
  for (const RankId rank : run.ranks()) {
    marks_of_ranks.push_back(best_marks(run, rank));
    RunTime& own = leftovers[run.process_row_of(rank)];
    if (outlasts_most(own, marks_of_ranks.back().second)) own = RunTime::min();
  }
  std::vector<std::vector<TimeRange>> launches = launches_by_process(run, leftovers);
  std::vector<StepsPart> parts;
  for (std::size_t row = 0; row < run.ranks().size(); ++row) {
    const std::uint32_t process = run.process_row_of(run.ranks()[row]);
    auto& [source, marks] = marks_of_ranks[row];
    StepsPart& part = parts.emplace_back();
    part.rank = run.ranks()[row];
    part.recorded = run.processes()[process].recorded;
    part.source = source;
    const bool from_begin = !marks.empty() && !marks.front().sums.is_set();
    if (from_begin && leftovers[process] > marks.front().time.begin)
      part.leftovers_ns = (leftovers[process] - marks.front().time.begin).count();
    part.windows = tile(part.rank, with_device_work(std::move(launches[process]), std::move(marks)));
  }
  return parts;
}

}  // namespace rankscope::analyzer
