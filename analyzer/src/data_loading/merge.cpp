#include "data_loading/merge.h"

#include <algorithm>
#include <span>
#include <utility>

#include "math/interval_set.h"
#include "steps/window_time.h"

namespace rankscope::analyzer {
namespace {

/// +1 where a worker begins to load, -1 where it stops, by time.
std::vector<std::pair<RunTime, int>> changes_of(std::span<const std::vector<TimeRange>> loads) {
  std::vector<std::pair<RunTime, int>> changes;
  for (const auto& worker : loads)
    for (const TimeRange& load : worker) {
      if (load.empty()) continue;
      changes.emplace_back(load.begin, 1);
      changes.emplace_back(load.end, -1);
    }
  std::ranges::sort(changes);
  return changes;
}

/// Shares out the waiting time by how many workers were loading then.
void add_busy_workers(const DataLoadingPart& loading, const IntervalSet& waiting, const WindowTime& windows,
                      DataLoadingRow& row) {
  const auto changes = changes_of(loading.loads);
  auto next = changes.begin();
  std::int64_t busy = 0;
  const auto add = [&](TimeRange stretch) {
    std::int64_t& part = busy == row.workers ? row.all_busy_ns : busy > 0 ? row.some_busy_ns : row.none_busy_ns;
    part += windows.length_ns(stretch);
  };
  for (const TimeRange& wait : waiting.intervals()) {
    for (; next != changes.end() && next->first <= wait.begin; ++next) busy += next->second;
    RunTime now = wait.begin;
    for (; next != changes.end() && next->first < wait.end; ++next) {
      if (next->first > now) add({now, next->first});
      now = std::max(now, next->first);
      busy += next->second;
    }
    if (now < wait.end) add({now, wait.end});
  }
}

/// Each wait takes one batch. Were more taken than loaded, the first ones had been loaded before the recording began.
void add_ready_ahead(const DataLoadingPart& loading, const WindowTime& windows, DataLoadingRow& row) {
  std::vector<RunTime> loaded;
  for (const auto& worker : loading.loads)
    for (const TimeRange& load : worker) loaded.push_back(load.end);
  std::ranges::sort(loaded);
  const auto loaded_until = [&](RunTime time) { return std::ranges::upper_bound(loaded, time) - loaded.begin(); };
  std::int64_t before_recording = 0;
  std::int64_t taken = 0;
  std::int64_t sum = 0;
  for (const TimeRange& wait : loading.waits) {
    if (windows.counts(wait.begin)) sum += loaded_until(wait.begin) - taken;
    ++taken;
    before_recording = std::max(before_recording, taken - loaded_until(wait.end));
  }
  row.ready_ahead = static_cast<double>(sum + before_recording * row.waits) / static_cast<double>(row.waits);
}

void add_workers(const DataLoadingPart& loading, const IntervalSet& waiting, const WindowTime& windows,
                 DataLoadingRow& row) {
  row.kind = LoaderWorkers::recorded;
  row.workers = static_cast<std::int64_t>(loading.loads.size());
  for (const auto& worker : loading.loads)
    for (const TimeRange& load : worker) {
      row.work_ns += windows.length_ns(load);
      if (!windows.counts(load.begin)) continue;
      ++row.batches;
      row.batches_ns += load.length().count();
    }
  add_busy_workers(loading, waiting, windows, row);
  if (row.waits > 0)
    add_ready_ahead(loading, windows, row);
  else
    row.why_unknown = "no wait for data began in the counted steps";
}

DataLoadingRow row_of(RankId rank, const CountedWindows& counted, const DataLoadingPart& loading) {
  DataLoadingRow row;
  row.rank = rank;
  const WindowTime windows{counted};
  row.steps = counted.steps;
  for (const TimeRange& window : counted.ranges) row.window_ns += window.length().count();
  const IntervalSet waiting = IntervalSet::from(loading.waits);
  for (const TimeRange& wait : waiting.intervals()) row.waiting_ns += windows.length_ns(wait);
  row.waits = std::ranges::count_if(loading.waits, [&](TimeRange wait) { return windows.counts(wait.begin); });
  if (!loading.loads.empty()) {
    add_workers(loading, waiting, windows, row);
  } else if (loading.own_thread) {
    row.kind = LoaderWorkers::none;
    row.why_unknown = "there are no workers: the training thread loads its batches itself";
  } else {
    row.why_unknown = "the work of loader workers was not recorded";
  }
  return row;
}

}  // namespace

void DataLoadingMerge::add(RankId rank, const CountedWindows& counted, const DataLoadingPart& part) {
  if (!part.empty()) section_.rows.push_back(row_of(rank, counted, part));
}

Section<DataLoadingSection> DataLoadingMerge::finish() && {
  if (section_.rows.empty()) return unavailable("no wait for data and no loader worker was recorded");
  return std::move(section_);
}

}  // namespace rankscope::analyzer
