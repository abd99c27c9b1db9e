#include "steps/find.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "math/statistics.h"
#include "rankscope/core/format.h"
#include "steps/step_marks.h"

namespace rankscope::analyzer {
namespace {

constexpr double warm_up_factor = 1.5;  // metrics.md 1.6
constexpr double warm_up_share = 0.2;
constexpr std::size_t most_warm_up_steps =
    100;                                   // a choice: a slow first hour of a long job is a problem, not a warm-up
constexpr double most_clock_share = 0.05;  // metrics.md 1.4: of a step, that clocks of several hosts may be wrong by

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

/// metrics.md 1.6: leading steps much longer than the median of the rest, at most 20 % of the complete ones, and 100.
void mark_warm_up(std::vector<Step>& steps) {
  std::vector<Step*> complete;
  std::vector<std::int64_t> walls;
  for (Step& step : steps) {
    if (!step.complete) continue;
    complete.push_back(&step);
    walls.push_back(step.wall_ns);
  }
  const auto share = static_cast<std::size_t>(warm_up_share * static_cast<double>(walls.size()));
  const std::size_t most = std::min(share, most_warm_up_steps);
  for (std::size_t i = 0; i < most; ++i) {
    const std::int64_t rest = median(std::span(walls).subspan(i + 1));
    if (static_cast<double>(walls[i]) <= warm_up_factor * static_cast<double>(rest)) break;
    complete[i]->warm_up = true;
  }
}

struct AllWindows {
  std::vector<StepWindow> windows;       // by (rank, index)
  std::vector<RankId> ranks_with_steps;  // ascending
  std::size_t ranks_without = 0;
  std::int64_t leftovers_ns = 0;  // StepsSection::leftovers_ns
};

/// The best source of marks that any rank has: all ranks use the same.
MarkSource source_of(std::span<const StepsPart> parts) {
  const bool any_spans = std::ranges::any_of(
      parts, [](const StepsPart& part) { return !part.windows.empty() && part.source == MarkSource::step_spans; });
  return any_spans ? MarkSource::step_spans : MarkSource::named_ranges;
}

AllWindows collect(std::span<const StepsPart> parts, MarkSource source) {
  AllWindows all;
  for (const StepsPart& part : parts) {
    if (part.windows.empty() || part.source != source) {
      ++all.ranks_without;
      continue;
    }
    all.leftovers_ns = std::max(all.leftovers_ns, part.leftovers_ns);
    all.windows.insert(all.windows.end(), part.windows.begin(), part.windows.end());
    all.ranks_with_steps.push_back(part.rank);
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

/// The last step of which any rank has sums only; nothing if no step was thinned out.
std::optional<std::int64_t> last_thinned_step(std::span<const StepWindow> windows) {
  std::optional<std::int64_t> last;
  for (const StepWindow& window : windows)
    if (window.thinned) last = std::max(last.value_or(window.index), window.index);
  return last;
}

/// Leaves the steps up to that one out.
void begin_behind(std::int64_t last, AllWindows& all) {
  std::erase_if(all.windows, [last](const StepWindow& window) { return window.index <= last; });
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
  return find_steps(local_steps(run), clocks, options);
}

StepsResult find_steps(std::span<const StepsPart> parts, const ClockTrust& clocks, const ReportOptions& options) {
  StepsResult result;
  const MarkSource source = source_of(parts);
  AllWindows all = collect(parts, source);
  if (all.windows.empty()) {
    result.section = result.all = unavailable(no_steps);
    return result;
  }
  Joining joining{source, clocks, !options.include_warm_up};
  if (const auto last = last_thinned_step(all.windows)) {
    result.with_thinned = join_with_thinned(all, joining);
    if (!result.with_thinned) result.why_no_thinned = no_common_sums;
    begin_behind(*last, all);
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
