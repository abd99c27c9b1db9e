#include "steps/sample_windows.h"

#include <algorithm>
#include <iterator>

#include "math/statistics.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

bool is_inside(std::span<const TimeRange> windows, RunTime time) {
  const auto later = std::ranges::upper_bound(windows, time, {}, &TimeRange::begin);
  return later != windows.begin() && time < std::prev(later)->end;
}

std::int64_t overlap_ns(std::span<const TimeRange> windows, const TimeRange& stretch) {
  std::int64_t sum = 0;
  auto window = std::ranges::upper_bound(windows, stretch.begin, {}, &TimeRange::end);
  for (; window != windows.end() && window->begin < stretch.end; ++window)
    sum += (std::min(window->end, stretch.end) - std::max(window->begin, stretch.begin)).count();
  return sum;
}

}  // namespace

std::vector<double> values_inside(std::span<const CounterSample> samples, std::span<const TimeRange> windows) {
  std::vector<double> values;
  for (const CounterSample& sample : samples)
    if (is_inside(windows, sample.time)) values.push_back(sample.value);
  return values;
}

Growth growth_inside(std::span<const CounterSample> samples, std::span<const TimeRange> windows) {
  Growth growth;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    const TimeRange stretch{samples[i - 1].time, samples[i].time};
    const double more = samples[i].value - samples[i - 1].value;
    const std::int64_t covered = overlap_ns(windows, stretch);
    if (more < 0 || covered == 0) continue;
    growth.amount += more * static_cast<double>(covered) / static_cast<double>(stretch.length().count());
    growth.covered_ns += covered;
  }
  return growth;
}

std::optional<double> events_inside(std::span<const CounterSample> samples, std::span<const TimeRange> windows) {
  std::optional<double> events;
  for (std::size_t i = 1; i < samples.size(); ++i)
    if (is_inside(windows, samples[i].time))
      events = events.value_or(0) + std::max(0.0, samples[i].value - samples[i - 1].value);
  return events;
}

namespace {

void add_values(const Run& run, const CounterTrack& track, RankId rank, const StepsSection* steps,
                std::vector<double>& values) {
  const auto windows = steps != nullptr ? windows_of(*steps, rank) : std::span<const StepWindow>{};
  const auto asked_for = [&](RunTime time) {
    if (steps == nullptr) return true;
    return !windows.empty() && windows.front().window.begin <= time && time <= windows.back().window.end;
  };
  for (const CounterSample& sample : run.samples_of(track))
    if (asked_for(sample.time)) values.push_back(sample.value);
}

}  // namespace

std::vector<double> counter_values(const Run& run, RankId rank, std::string_view name, const StepsSection* steps) {
  const auto process = run.process_row_of(rank);
  std::vector<double> values;
  for (const CounterTrack& track : run.counters())
    if (track.process == process && run.text(track.name) == name) add_values(run, track, rank, steps, values);
  return values;
}

std::map<RankId, std::vector<double>> counter_values_by_rank(const Run& run, std::string_view name,
                                                             const StepsSection& steps) {
  std::map<RankId, std::vector<double>> values;
  for (const CounterTrack& track : run.counters())
    if (track.rank.is_set() && run.text(track.name) == name && track.process == run.process_row_of(track.rank))
      add_values(run, track, track.rank, &steps, values[track.rank]);
  return values;
}

namespace {

/// From the first to the last counted step of the rank; nothing if it has none.
std::optional<TimeRange> counted_time(const Section<StepsSection>& steps, RankId rank) {
  std::optional<TimeRange> time;
  if (!steps) return time;
  for (const StepWindow& window : windows_of(*steps, rank)) {
    if (!steps->counted(window.index)) continue;
    if (!time) time = window.window;
    time->end = window.window.end;
  }
  return time;
}

}  // namespace

std::optional<double> cpu_percent_of(const Run& run, RankId rank, const Section<StepsSection>& steps) {
  const std::optional<TimeRange> time = counted_time(steps, rank);
  std::vector<double> values;
  for (const CounterTrack& track : run.counters()) {
    if (track.process != run.process_row_of(rank) || run.text(track.name) != "cpu_percent") continue;
    const auto samples = run.samples_of(track);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const bool inside = !time || (i > 0 && samples[i - 1].time >= time->begin && samples[i].time <= time->end);
      if (inside) values.push_back(samples[i].value);
    }
  }
  return values.empty() ? std::nullopt : std::optional{median(values)};
}

}  // namespace rankscope::analyzer
