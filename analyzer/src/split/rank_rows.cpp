#include "split/rank_rows.h"

#include <algorithm>
#include <map>
#include <span>

#include "math/statistics.h"
#include "rankscope/core/model/run.h"
#include "split/communication.h"
#include "split/device_record.h"
#include "steps/counted_windows.h"
#include "steps/sample_windows.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
namespace {

Ratio share(std::int64_t part, std::int64_t whole, std::string_view why_not) {
  if (whole <= 0) return {std::nullopt, std::string{why_not}};
  return {static_cast<double>(part) / static_cast<double>(whole), {}};
}

std::string device_of(const Run& run, RankId rank) {
  const std::string_view named = run.metadata(run.process_of(rank), "device");
  if (!named.empty()) return std::string{named};
  if (!run.has_accelerator(rank)) return "cpu";
  const auto process = run.process_row_of(rank);
  for (const Lane& lane : run.lanes()) {
    if (lane.process != process || lane.kind != LaneKind::stream) continue;
    for (const Device& device : run.devices())
      if (device.process == process && device.ordinal == lane.device && device.name.is_set())
        return std::string{run.text(device.name)};
  }
  return "accelerator";
}

struct IdleInWindow {
  std::size_t place = 0;
  std::int64_t ns = 0;
};

/// Idle time of one reason.
struct IdleSum {
  std::int64_t ns = 0;
  std::int64_t outside_ns = 0;           // of the time in which devices worked
  std::vector<IdleInWindow> in_windows;  // of steps
};

constexpr TimeRange always{RunTime::min(), RunTime::max()};

/// From the first work of the devices until the end of the last; at the end of the window if there is none.
TimeRange working_time(std::span<const IdleStretch> stretches, TimeRange window) {
  TimeRange working = window;
  for (const IdleStretch& stretch : stretches) {
    if (stretch.time.begin > working.begin) break;
    working.begin = std::max(working.begin, stretch.time.end);
  }
  if (working.begin >= window.end) return {window.end, window.end};
  for (auto stretch = stretches.rbegin(); stretch != stretches.rend() && stretch->time.end >= working.end; ++stretch)
    working.end = std::min(working.end, stretch->time.begin);
  return working;
}

/// See IdleShare::long_steps.
std::vector<IdleInStep> long_steps(const IdleSum& sum, std::span<const std::int64_t> steps) {
  std::vector<IdleInStep> found;
  if (sum.in_windows.empty()) return found;
  constexpr std::int64_t part = 16;
  const auto most = std::ranges::max_element(sum.in_windows, {}, &IdleInWindow::ns);
  for (auto window = sum.in_windows.begin(); window != sum.in_windows.end(); ++window)
    if (window == most || part * window->ns >= sum.ns) found.push_back({steps[window->place], window->ns});
  return found;
}

/// Idle time of the windows by reason, the longest first. `steps`: their indices, or empty.
std::vector<IdleShare> idle_shares(const Run& run, std::span<const IdleStretch> stretches,
                                   std::span<const TimeRange> windows, std::span<const std::int64_t> steps,
                                   TimeRange working) {
  std::map<IdleReason, IdleSum> sums;
  auto first = stretches.begin();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const TimeRange window = windows[i];
    std::map<IdleReason, std::int64_t> here;
    while (first != stretches.end() && first->time.end <= window.begin) ++first;
    for (auto at = first; at != stretches.end() && at->time.begin < window.end; ++at) {
      const TimeRange part = intersect(at->time, window);
      here[at->reason] += part.length().count();
      sums[at->reason].outside_ns += (part.length() - intersect(part, working).length()).count();
    }
    for (const auto& [reason, ns] : here) {
      IdleSum& sum = sums[reason];
      sum.ns += ns;
      if (!steps.empty()) sum.in_windows.push_back({i, ns});
    }
  }
  std::vector<IdleShare> shares;
  for (const auto& [reason, sum] : sums) {
    shares.push_back({reason.cause, reason.detail, text_of(run, reason.range), text_of(run, reason.call), sum.ns});
    shares.back().outside_ns = sum.outside_ns;
    shares.back().long_steps = long_steps(sum, steps);
  }
  return by_reason(std::move(shares));
}

/// Of the windows of counted_windows(); empty where these are the whole recording.
std::vector<std::int64_t> counted_indices(const Section<StepsSection>& steps, RankId rank) {
  std::vector<std::int64_t> indices;
  if (!steps) return indices;
  for (const StepWindow& window : windows_of(*steps, rank))
    if (steps->counted(window.index)) indices.push_back(window.index);
  return indices;
}

RankRow row_of(const Run& run, RankId rank, const Section<StepsSection>& steps, const RankLayers& layers) {
  RankRow row;
  row.rank = rank;
  row.host = run.text(run.process_of(rank).host);
  row.device = device_of(run, rank);
  const CountedWindows windows = counted_windows(run, rank, steps);
  std::vector<TimeSplit> splits = split_windows(layers.layers, windows.ranges);
  const TimeRange whole = windows.ranges.front();
  const bool has_ends = windows.steps == 0 && run.has_accelerator(rank);
  const TimeRange working = has_ends ? working_time(layers.idle, whole) : always;
  if (has_ends) {
    row.before_work_ns = (working.begin - whole.begin).count();
    row.after_work_ns = (whole.end - working.end).count();
  }
  row.idle_shares = idle_shares(run, layers.idle, windows.ranges, counted_indices(steps, rank), working);
  for (const TimeSplit& split : splits) row.total += split;
  if (windows.steps > 0) row.per_step = std::move(splits);
  row.overlap_ratio = share(row.total.overlapped_comm_ns, row.total.comm_ns, "no communication");
  row.busy = share(row.total.window_ns - row.total.idle_ns, row.total.window_ns, "empty window");
  row.compute = share(row.total.compute_ns, row.total.window_ns, "empty window");
  row.why_no_memory = row.why_no_reserved = "not computed";
  row.cpu_percent = cpu_percent_of(run, rank, steps);
  return row;
}

void doubt_communication(RankRow& row, const std::string& why) {
  row.why_no_comm = why;
  if (!row.shows_communication()) row.overlap_ratio.why = why;
}

constexpr const char* nothing_classified = "nothing was recorded that separates compute from communication";

}  // namespace

Section<std::vector<RankRow>> split_ranks(const Run& run, const Section<StepsSection>& steps, const Matching& matching,
                                          const ReportOptions& options) {
  if (std::string why = why_nothing_counts(steps, options); !why.empty()) return unavailable(std::move(why));
  if (std::string why = why_no_device_activity(run); !why.empty()) return unavailable(std::move(why));
  std::vector<RankRow> rows;
  bool any_classified = false;
  for (const RankId rank : run.ranks()) {
    const RankLayers layers = layers_of(run, rank, matching);
    any_classified = any_classified || is_classified(layers.layers);
    rows.push_back(row_of(run, rank, steps, layers));
  }
  if (rows.empty()) return unavailable("no process has a rank");
  if (!any_classified) return unavailable(nothing_classified);
  if (const std::string why = why_waits_are_hidden(run, rows); !why.empty())
    for (RankRow& row : rows) doubt_communication(row, why);
  return rows;
}

}  // namespace rankscope::analyzer
