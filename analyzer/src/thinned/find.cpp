#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <set>

#include "rankscope/core/model/run.h"
#include "split/layers.h"
#include "split/rank_rows.h"
#include "steps/find.h"
#include "thinned/parts.h"

namespace rankscope::analyzer {
namespace {

/// Sums may be damaged: of two numbers of which none is negative, the sum as far as it can be told.
std::int64_t plus(std::int64_t one, std::int64_t other) {
  return one + std::min(other, std::numeric_limits<std::int64_t>::max() - one);
}

std::int64_t behind(std::int64_t index) {
  return index == std::numeric_limits<std::int64_t>::max() ? index : index + 1;
}

std::int64_t sum_of(const Run& run, SpanId step, std::string_view key) {
  return std::max<std::int64_t>(0, run.number(step, key).value_or(0));
}

/// The sums of one step as a split: what is in none of them is idle time of the host. Communication is not divided into
/// waiting and transfer, since the operations of the other ranks are gone, too.
TimeSplit split_of_sums(const Run& run, const StepWindow& window) {
  TimeSplit split;
  split.window_ns = window.window.length().count();
  std::int64_t rest = split.window_ns;
  const auto take = [&](std::initializer_list<std::string_view> keys) {
    std::int64_t sum = 0;
    for (const std::string_view key : keys) sum += std::min(sum_of(run, window.sums, key), rest - sum);
    rest -= sum;
    return sum;
  };
  split.compute_ns = take({"compute_ns"});
  split.exposed_comm_ns = take({"communication_ns", "wait_ns"});
  split.comm_ns = split.unsplit_ns = split.exposed_comm_ns;
  split.memory_ns = take({"copies_ns"});
  split.idle_causes_ns[static_cast<std::size_t>(IdleCause::data)] = take({"data_ns"});
  split.idle_causes_ns[static_cast<std::size_t>(IdleCause::host)] = rest;
  split.idle_ns = split.idle_ns_of(IdleCause::data) + rest;
  return split;
}

/// Of the counted steps of one rank, from sums or from events.
std::vector<TimeSplit> splits_of(const Run& run, const StepsSection& steps, RankId rank, const Layers& layers) {
  std::vector<TimeSplit> splits;
  for (const StepWindow& window : windows_of(steps, rank)) {
    if (!steps.counted(window.index)) continue;
    if (window.sums.is_set())
      splits.push_back(split_of_sums(run, window));
    else
      splits.push_back(split_windows(layers, std::array{window.window}).front());
  }
  return splits;
}

RankRow row_of(const Run& run, const StepsSection& steps, RankId rank, const Matching& matching) {
  RankRow row;
  row.rank = rank;
  row.host = run.text(run.process_of(rank).host);
  row.per_step = splits_of(run, steps, rank, busy_layers(run, rank, matching));
  for (const TimeSplit& split : row.per_step) row.total += split;
  return row;
}

/// Thinned steps that are complete on all ranks with steps, ascending.
std::vector<std::int64_t> thinned_indices(const StepsSection& steps, std::int64_t first_full) {
  std::vector<std::int64_t> indices;
  for (const Step& step : steps.steps)
    if (step.complete && step.index < first_full) indices.push_back(step.index);
  return indices;
}

ThinnedRank sums_of(const Run& run, std::span<const StepWindow> windows, std::span<const std::int64_t> indices) {
  ThinnedRank sums;
  for (const StepWindow& window : windows) {
    if (!window.sums.is_set() || !std::ranges::binary_search(indices, window.index)) continue;
    ++sums.steps;
    sums.per_step.push_back(split_of_sums(run, window));
    sums.total += sums.per_step.back();
    sums.bytes_per_step.push_back(sum_of(run, window.sums, "bytes"));
    sums.bytes = plus(sums.bytes, sums.bytes_per_step.back());
    sums.operations = plus(sums.operations, sum_of(run, window.sums, "operations"));
  }
  return sums;
}

/// metrics.md 22.3. Only of ranks that have every thinned step.
void add_waits(ThinnedSection& section) {
  const std::size_t steps = section.indices.size();
  for (std::size_t step = 0; step < steps; ++step) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const ThinnedRank& rank : section.ranks)
      if (rank.per_step.size() == steps) least = std::min(least, rank.per_step[step].exposed_comm_ns);
    for (ThinnedRank& rank : section.ranks)
      if (rank.per_step.size() == steps) rank.wait_at_least_ns += rank.per_step[step].exposed_comm_ns - least;
  }
}

/// Own times from sums and own times from events differ by how they are measured, so that ranks are compared only in
/// steps in which all of them have the same.
void leave_out_mixed(StepsSection& steps) {
  std::set<std::int64_t> from_sums;
  std::set<std::int64_t> from_events;
  for (const StepWindow& window : steps.windows) (window.sums.is_set() ? from_sums : from_events).insert(window.index);
  std::erase_if(steps.steps,
                [&](const Step& step) { return from_sums.contains(step.index) && from_events.contains(step.index); });
}

}  // namespace

std::optional<ThinnedSection> find_thinned(const Run& run, const StepsSection& steps, const Matching& matching,
                                           const std::optional<StepRange>& asked) {
  ThinnedSection section;
  section.steps = steps;
  for (const StepWindow& window : steps.windows)
    if (window.sums.is_set()) section.first_full_step = std::max(section.first_full_step, behind(window.index));
  leave_out_mixed(section.steps);
  if (asked)
    std::erase_if(section.steps.steps,
                  [&](const Step& step) { return step.index < asked->first || step.index > asked->second; });
  const auto is_thinned = [&](const Step& step) { return step.index < section.first_full_step; };
  if (std::ranges::none_of(section.steps.steps, is_thinned)) return std::nullopt;
  summarize(section.steps);
  section.indices = thinned_indices(section.steps, section.first_full_step);
  for (const RankId rank : run.ranks()) {
    section.rows.push_back(row_of(run, section.steps, rank, matching));
    ThinnedRank sums = sums_of(run, windows_of(section.steps, rank), section.indices);
    sums.rank = rank;
    if (sums.steps > 0) section.ranks.push_back(std::move(sums));
  }
  add_waits(section);
  return section;
}

}  // namespace rankscope::analyzer
