#include "render/launches.h"

#include <algorithm>
#include <utility>

#include "rankscope/core/format.h"
#include "render/words.h"
#include "units.h"

namespace rankscope::analyzer {
namespace {

std::string percent(double share) { return format("{:.0f} %", 100 * share); }

std::string short_text(const LaunchRow& row) {
  if (row.kernels == 0) return "–";
  return percent(static_cast<double>(row.short_kernels) / static_cast<double>(row.kernels));
}

/// Rows of ranks; where only one rank is shown those of its streams, too.
std::vector<const LaunchRow*> shown_rows(const LaunchesSection& section, std::size_t limit) {
  const auto whole = [](const LaunchRow& row) { return row.stream == -1; };
  const bool with_streams = std::ranges::count_if(section.rows, whole) == 1;
  std::vector<const LaunchRow*> rows;
  for (const LaunchRow& row : section.rows)
    if ((whole(row) || with_streams) && rows.size() < limit) rows.push_back(&row);
  return rows;
}

}  // namespace

std::vector<NotedTable> launch_tables(const Report& report, std::size_t most) {
  if (!report.launches) return {};
  NotedTable noted;
  noted.title = "Launches";
  noted.what = "medians (90 %); delay = from the end of the call until the work begins";
  noted.table.columns = {
      {"rank"},   {"stream", Align::left}, {"launches"}, {"call"}, {"delay"}, {"short"}, {"queued"}, {"most"},
      {"starved"}};
  for (const LaunchRow* const row : shown_rows(*report.launches, most)) {
    const auto pair = [](const Durations& durations) {
      return format("{} ({})", duration_text(durations.median_ns), duration_text(durations.p90_ns));
    };
    noted.table.rows.push_back({{format("{}", row->rank.value)},
                                {row->stream == -1 ? "all" : format("{}:{}", row->device, row->stream)},
                                {format("{}", row->launches)},
                                {pair(row->call)},
                                {pair(row->delay)},
                                {short_text(*row)},
                                {format("{:.1f}", row->queue.mean)},
                                {format("{}", row->queue.most)},
                                {percent(row->queue.empty_and_idle_share)}});
  }
  noted.notes.emplace_back(
      "Short: kernels that took less time than the call that launched them. Queued: launched and not begun, mean over "
      "time. Starved: share of the time in which nothing was queued and nothing ran. A long delay is no fault: a deep "
      "queue has long delays and no idle time.");
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
