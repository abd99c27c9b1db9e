#include "data_loading/parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "math/interval_set.h"
#include "rankscope/core/model/run.h"
#include "steps/counted_windows.h"
#include "steps/parts.h"
#include "steps/window_time.h"

namespace rankscope::analyzer {
namespace {

/// What one rank's threads did for its data, whatever the windows.
struct Loading {
  std::vector<TimeRange> waits;               // outermost ones, by begin
  std::vector<std::vector<TimeRange>> loads;  // per worker, by begin
  bool own_thread = false;                    // the one that waits loads the batches itself
};

bool is_worker(const Run& run, const Lane& lane) {
  const auto spans = run.spans_of(lane);
  return std::ranges::any_of(spans, [](const Span& span) { return span.kind == SpanKind::loader; }) ||
         (spans.empty() && run.text(lane.name).starts_with("loader"));
}

/// Those inside others, and those that only overlap, are left out.
void add_outermost(const Run& run, const Lane& lane, SpanKind kind, std::vector<TimeRange>& out) {
  RunTime until = RunTime::min();
  for (const Span& span : run.spans_of(lane)) {
    if (span.kind != kind || span.time.begin < until) continue;
    out.push_back(span.time);
    until = span.time.end;
  }
}

bool loads_itself(const Run& run, const Lane& lane) {
  return std::ranges::any_of(run.spans_of(lane), [&](const Span& span) {
    return span.kind == SpanKind::data && run.text(span.name).find("SingleProcess") != std::string_view::npos;
  });
}

Loading loading_of(const Run& run, RankId rank) {
  Loading loading;
  const auto process = run.process_row_of(rank);
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || lane.kind != LaneKind::thread) continue;
    if (is_worker(run, lane)) {
      add_outermost(run, lane, SpanKind::loader, loading.loads.emplace_back());
    } else {
      add_outermost(run, lane, SpanKind::data, loading.waits);
      loading.own_thread = loading.own_thread || loads_itself(run, lane);
    }
  }
  std::ranges::sort(loading.waits, {}, &TimeRange::begin);
  return loading;
}

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
void add_busy_workers(const Loading& loading, const IntervalSet& waiting, const WindowTime& windows,
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
void add_ready_ahead(const Loading& loading, const WindowTime& windows, DataLoadingRow& row) {
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

void add_workers(const Loading& loading, const IntervalSet& waiting, const WindowTime& windows, DataLoadingRow& row) {
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

DataLoadingRow row_of(const Run& run, RankId rank, const Section<StepsSection>& steps, const Loading& loading) {
  DataLoadingRow row;
  row.rank = rank;
  const CountedWindows counted = counted_windows(run, rank, steps);
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

Section<DataLoadingSection> find_data_loading(const Run& run, const Section<StepsSection>& steps,
                                              const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  DataLoadingSection section;
  for (const RankId rank : ranks_to_sum(run, steps, options, Among::all_ranks)) {
    const Loading loading = loading_of(run, rank);
    if (!loading.waits.empty() || !loading.loads.empty()) section.rows.push_back(row_of(run, rank, steps, loading));
  }
  if (section.rows.empty()) return unavailable("no wait for data and no loader worker was recorded");
  return section;
}

std::optional<std::int64_t> workers_needed(const DataLoadingRow& row) {
  const std::int64_t rest_ns = row.window_ns - row.waiting_ns;
  if (row.kind != LoaderWorkers::recorded || row.batches == 0 || row.waits == 0 || rest_ns <= 0) return std::nullopt;
  // Waits are as many as batches are needed; each of them takes a worker batches_ns / batches.
  const double work = static_cast<double>(row.batches_ns) / static_cast<double>(row.batches);
  const double needed = work * static_cast<double>(row.waits) / static_cast<double>(rest_ns);
  constexpr double most = 1e6;  // more is no number of workers
  if (needed > most) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(needed);
  return whole + (static_cast<double>(whole) < needed ? 1 : 0);
}

}  // namespace rankscope::analyzer
