#include "steps/find.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "steps/step_marks.h"

namespace rankscope::analyzer {
namespace {

constexpr double warm_up_factor = 1.5;  // metrics.md 1.6
constexpr double warm_up_share = 0.2;
constexpr double most_clock_share = 0.05;  // metrics.md 1.4: of a step, that clocks of several hosts may be wrong by

/// Tiles the time of a rank (1.2). A jump in the indices ends a recording window: its last step ends with its own mark.
std::vector<StepWindow> tile(RankId rank, std::span<const StepMark> marks) {
  std::vector<StepWindow> windows;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const bool followed = i + 1 < marks.size() && marks[i + 1].index == marks[i].index + 1;
    const RunTime end = followed ? marks[i + 1].time.begin : marks[i].time.end;
    const TimeRange window{marks[i].time.begin, end};
    windows.push_back({rank, marks[i].index, window, !marks[i].cut && !window.empty(), marks[i].sums});
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

/// May the clocks of the ranks be compared?
enum class Clocks : std::uint8_t { common, refused };

/// One job step from the windows of all ranks that have it (1.4).
Step join(std::span<const StepWindow* const> windows, Clocks clocks) {
  Step step;
  step.index = windows.front()->index;
  step.time = windows.front()->window;
  step.complete = true;
  for (const StepWindow* window : windows) {
    step.complete = step.complete && window->complete;
    step.wall_ns = std::max(step.wall_ns, window->window.length().count());
    if (clocks == Clocks::refused) continue;
    step.time.begin = std::max(step.time.begin, window->window.begin);
    step.time.end = std::max(step.time.end, window->window.end);
  }
  if (clocks == Clocks::common) step.wall_ns = step.time.length().count();
  return step;
}

/// Steps that every rank with marks has. The windows must be sorted by (index, rank).
std::vector<Step> common_steps(std::span<const StepWindow* const> windows, std::size_t ranks, Clocks clocks,
                               Quality& quality) {
  std::vector<Step> steps;
  for (std::size_t begin = 0; begin < windows.size();) {
    std::size_t end = begin;
    while (end < windows.size() && windows[end]->index == windows[begin]->index) ++end;
    if (end - begin == ranks) {
      steps.push_back(join(windows.subspan(begin, end - begin), clocks));
    } else {
      quality.add(Counter::steps_uneven);
    }
    begin = end;
  }
  return steps;
}

/// metrics.md 1.6: leading steps much longer than the median of the rest, at most 20 % of the complete ones.
void mark_warm_up(std::vector<Step>& steps) {
  std::vector<Step*> complete;
  std::vector<std::int64_t> walls;
  for (Step& step : steps) {
    if (!step.complete) continue;
    complete.push_back(&step);
    walls.push_back(step.wall_ns);
  }
  const auto most = static_cast<std::size_t>(warm_up_share * static_cast<double>(walls.size()));
  for (std::size_t i = 0; i < most; ++i) {
    const std::int64_t rest = median(std::span(walls).subspan(i + 1));
    if (static_cast<double>(walls[i]) <= warm_up_factor * static_cast<double>(rest)) break;
    complete[i]->warm_up = true;
  }
}

void summarize(StepsSection& section) {
  std::vector<std::int64_t> walls;
  for (const Step& step : section.steps) {
    if (step.complete && !step.warm_up) walls.push_back(step.wall_ns);
  }
  section.median_ns = median(walls);
  section.p90_ns = quantile(walls, 0.9);
  if (!walls.empty())
    section.mean_ns =
        std::accumulate(walls.begin(), walls.end(), std::int64_t{0}) / static_cast<std::int64_t>(walls.size());
  if (std::ssize(walls) >= least_for_jitter && section.median_ns > 0) {
    section.jitter = robust_sigma(walls) / static_cast<double>(section.median_ns);
  }
}

struct AllWindows {
  std::vector<StepWindow> windows;       // by (rank, index)
  std::vector<RankId> ranks_with_steps;  // ascending
  std::size_t ranks_without = 0;
  std::int64_t leftovers_ns = 0;  // StepsSection::leftovers_ns
};

/// Work launched before the recording began ends early in it: what ends after most of its steps is something else.
bool outlasts_most(RunTime leftovers, std::span<const StepMark> marks) {
  const auto over = std::ranges::count_if(marks, [&](const StepMark& mark) { return mark.time.end <= leftovers; });
  return marks.size() > 1 && 2 * over > std::ssize(marks);
}

AllWindows collect(const Run& run, MarkSource source) {
  AllWindows all;
  std::vector<RunTime> leftovers = ends_of_leftovers(run);
  std::vector<std::vector<StepMark>> marks_of_ranks;
  for (const RankId rank : run.ranks()) {
    marks_of_ranks.push_back(step_marks(run, rank, source));
    RunTime& own = leftovers[run.process_row_of(rank)];
    if (outlasts_most(own, marks_of_ranks.back())) own = RunTime::min();
  }
  std::vector<std::vector<TimeRange>> launches = launches_by_process(run, leftovers);
  for (std::size_t row = 0; row < run.ranks().size(); ++row) {
    const RankId rank = run.ranks()[row];
    const std::uint32_t process = run.process_row_of(rank);
    const std::vector<StepMark>& marks = marks_of_ranks[row];
    const bool from_begin = !marks.empty() && !marks.front().sums.is_set();
    if (from_begin && leftovers[process] > marks.front().time.begin)
      all.leftovers_ns = std::max(all.leftovers_ns, (leftovers[process] - marks.front().time.begin).count());
    const std::vector<StepWindow> own = tile(rank, with_device_work(std::move(launches[process]), marks));
    all.windows.insert(all.windows.end(), own.begin(), own.end());
    if (own.empty()) {
      ++all.ranks_without;
    } else {
      all.ranks_with_steps.push_back(rank);
    }
  }
  return all;
}

/// True if the clocks tell less of a step than the longest window of a rank does (1.4). Clocks that are as exact as
/// ends of operations are good for any step.
bool are_too_coarse(const ClockTrust& clocks, const AllWindows& all) {
  const std::int64_t error = clocks.error_ns(all.ranks_with_steps);
  if (error <= duration_claim_ns) return false;
  std::vector<std::int64_t> lengths;
  for (const StepWindow& window : all.windows) lengths.push_back(window.window.length().count());
  return 2 * static_cast<double>(error) > most_clock_share * static_cast<double>(median(lengths));
}

constexpr const char* no_steps = "no step marks were recorded";
constexpr const char* no_common_sums =
    "steps were thinned out while the job ran (record --keep), and the ranks have no step in common";
constexpr const char* only_sums = "the events of all steps were thinned out while the job ran (record --keep)";

/// The first step of which no rank has sums only; nothing if no step was thinned out.
std::optional<std::int64_t> first_full_step(std::span<const StepWindow> windows) {
  std::optional<std::int64_t> first;
  for (const StepWindow& window : windows)
    if (window.sums.is_set()) first = std::max(first.value_or(window.index + 1), window.index + 1);
  return first;
}

/// Leaves the steps out that come before.
void begin_with(std::int64_t first, AllWindows& all) {
  std::erase_if(all.windows, [first](const StepWindow& window) { return window.index < first; });
  const auto before = all.ranks_with_steps.size();
  std::erase_if(all.ranks_with_steps, [&](RankId rank) {
    return std::ranges::find(all.windows, rank, &StepWindow::rank) == all.windows.end();
  });
  all.ranks_without += before - all.ranks_with_steps.size();
}

/// How steps are joined: where their marks come from, and whether the first ones may be warm-up.
struct Joining {
  MarkSource source{};
  const ClockTrust& clocks;
  bool marks_warm_up = true;
};

Section<StepsSection> join_all(AllWindows all, const Joining& joining, Quality& quality) {
  StepsSection section;
  section.source = name_of(joining.source);
  section.leftovers_ns = all.leftovers_ns;
  section.clocks_refused = !joining.clocks.comparable(all.ranks_with_steps) || are_too_coarse(joining.clocks, all);
  std::vector<const StepWindow*> by_index;
  for (const StepWindow& window : all.windows) by_index.push_back(&window);
  std::ranges::stable_sort(by_index, {}, [](const StepWindow* window) { return window->index; });
  section.steps = common_steps(by_index, all.ranks_with_steps.size(),
                               section.clocks_refused ? Clocks::refused : Clocks::common, quality);
  quality.add(Counter::steps_uneven, all.ranks_without);
  if (joining.marks_warm_up) mark_warm_up(section.steps);
  if (section.steps.empty()) return unavailable("the ranks have no step index in common");
  section.windows = std::move(all.windows);
  return section;
}

/// All steps, thinned out or not.
std::optional<StepsSection> join_with_thinned(const AllWindows& all, const Joining& joining) {
  Quality of_all;  // what is uneven is counted with the steps that have events
  auto section = join_all(all, joining, of_all);
  if (!section) return std::nullopt;
  summarize(*section);
  return std::move(*section);
}

/// The steps asked for. What is warm-up was judged with all of them.
Section<StepsSection> in_range(const StepsSection& all, const ReportOptions& options) {
  if (!options.steps) return all;
  const auto outside = [&](std::int64_t index) {
    return index < options.steps->first || index > options.steps->second;
  };
  StepsSection section = all;
  std::erase_if(section.steps, [&](const Step& step) { return outside(step.index); });
  std::erase_if(section.windows, [&](const StepWindow& window) { return outside(window.index); });
  if (outside(all.steps.front().index)) section.leftovers_ns = 0;
  if (section.steps.empty()) {
    return unavailable(format("the ranks do not have {} in common, only {}", step_range_text(*options.steps),
                              step_range_text({all.steps.front().index, all.steps.back().index})));
  }
  return section;
}

}  // namespace

StepsResult find_steps(const Run& run, const ClockTrust& clocks, const ReportOptions& options) {
  StepsResult result;
  MarkSource source = MarkSource::step_spans;
  AllWindows all = collect(run, source);
  if (all.windows.empty()) {
    source = MarkSource::named_ranges;
    all = collect(run, source);
  }
  if (all.windows.empty()) {
    result.section = result.all = unavailable(no_steps);
    return result;
  }
  Joining joining{source, clocks, !options.include_warm_up};
  if (const auto first = first_full_step(all.windows)) {
    result.with_thinned = join_with_thinned(all, joining);
    if (!result.with_thinned) result.why_no_thinned = no_common_sums;
    begin_with(*first, all);
    joining.marks_warm_up = false;  // the first of them is not the first of the job
    if (all.windows.empty()) {
      result.section = result.all = unavailable(only_sums);
      return result;
    }
  }
  auto section = join_all(std::move(all), joining, result.quality);
  if (!section) {
    result.section = result.all = std::move(section);
    return result;
  }
  result.section = in_range(*section, options);
  result.all = std::move(section);
  summarize(*result.all);
  if (!result.section) return result;
  summarize(*result.section);
  for (const Step& step : result.section->steps) {
    if (!step.complete) result.quality.add(Counter::steps_partial);
    if (step.warm_up) result.quality.add(Counter::warmup_excluded);
  }
  return result;
}

std::string step_range_text(const StepRange& range) {
  if (range.second == to_the_end) return format("steps {} and later", range.first);
  return range.first == range.second ? format("step {}", range.first)
                                     : format("steps {} to {}", range.first, range.second);
}

bool StepsSection::counted(std::int64_t index) const {
  const auto found = std::ranges::lower_bound(steps, index, {}, &Step::index);
  return found != steps.end() && found->index == index && found->complete && !found->warm_up;
}

std::span<const StepWindow> windows_of(const StepsSection& steps, RankId rank) {
  const auto own = std::ranges::equal_range(steps.windows, rank, {}, &StepWindow::rank);
  return {own.begin(), own.end()};
}

std::vector<std::int64_t> counted_steps(const StepsSection& steps) {
  std::vector<std::int64_t> indices;
  for (const Step& step : steps.steps) {
    if (step.complete && !step.warm_up) indices.push_back(step.index);
  }
  return indices;
}

}  // namespace rankscope::analyzer
