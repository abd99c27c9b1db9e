#include "launches/merge.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "math/statistics.h"

namespace rankscope::analyzer {
namespace {

/// Durations of the cells that count.
class Values {
 public:
  void add(const std::vector<std::int64_t>& more) { values_.insert(values_.end(), more.begin(), more.end()); }
  [[nodiscard]] Durations durations() && {
    std::ranges::sort(values_);
    return {sorted_median(values_), sorted_quantile(values_, 0.9), sorted_quantile(values_, 0.99)};
  }

 private:
  std::vector<std::int64_t> values_;
};

void add_counts(LaunchRow& row, const LaunchesPart::Begun& begun) {
  row.launches += begun.launches;
  row.in_graphs += begun.in_graphs;
  row.without_launch += begun.without_launch;
  row.began_in_call += begun.began_in_call;
  row.began_before_call += begun.began_before_call;
  row.short_kernels += begun.short_kernels;
  row.kernels += begun.kernels;
  row.short_ns += begun.short_ns;
  row.kernels_ns += begun.kernels_ns;
}

/// `windows`: in how many counted ones each cell lies.
LaunchRow counted_row(const CountedRank& rank, std::span<const std::int64_t> windows, const LaunchesPart::Row& part) {
  LaunchRow row;
  row.rank = rank.rank;
  row.device = part.device;
  row.stream = part.stream;
  Values calls;
  Values delays;
  Values issues;
  for (const LaunchesPart::Begun& begun : part.begun) {
    if (windows[begun.cell] == 0) continue;
    add_counts(row, begun);
    calls.add(begun.calls);
    delays.add(begun.delays);
    issues.add(begun.issues);
  }
  row.call = std::move(calls).durations();
  row.delay = std::move(delays).durations();
  row.issue = std::move(issues).durations();
  DepthTimes times;
  for (std::size_t cell = 1; cell <= rank.cells.bounded(); ++cell)
    if (windows[cell] > 0) times.add(part.queued[cell - 1], windows[cell]);
  row.queue = queue_depth(times);
  return row;
}

}  // namespace

void LaunchesMerge::add(const CountedRank& rank, const LaunchesPart& part) {
  const std::vector<std::int64_t> windows = windows_of_cells(rank);
  LaunchRow all = counted_row(rank, windows, part.all);
  if (all.launches == 0) return;
  section_.rows.push_back(std::move(all));
  for (const LaunchesPart::Row& stream : part.streams)
    if (LaunchRow row = counted_row(rank, windows, stream); row.launches > 0) section_.rows.push_back(std::move(row));
}

Section<LaunchesSection> LaunchesMerge::finish(std::string why_none) && {
  if (section_.rows.empty()) return unavailable(std::move(why_none));
  return std::move(section_);
}

std::string why_no_launches(Launches launches) {
  switch (launches) {
    case Launches::recorded:
      return "no work with a recorded launch started in the counted part of the recording";
    case Launches::none_recorded:
      return "the recording has no launch calls";
  }
  return {};
}

}  // namespace rankscope::analyzer
