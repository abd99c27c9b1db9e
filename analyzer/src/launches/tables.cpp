#include "launches/parts.h"

#include <algorithm>
#include <span>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

std::string whole_percent(double share) { return format("{:.0f} %", 100 * share); }

std::string pair_text(const Durations& durations) {
  return format("{} ({})", duration_text(durations.median_ns), duration_text(durations.p90_ns));
}

std::string short_text(const LaunchRow& row) {
  if (row.kernels == 0) return "–";
  return whole_percent(static_cast<double>(row.short_kernels) / static_cast<double>(row.kernels));
}

/// Of the calls themselves, which graphs do not have one by one.
std::string call_text(const LaunchRow& row) { return row.has_calls() ? pair_text(row.call) : "–"; }

bool is_whole(const LaunchRow& row) { return row.stream == -1; }

/// Rows of ranks; where there is only one rank those of its streams, too.
std::vector<const LaunchRow*> rows_of(const LaunchesSection& section) {
  const bool with_streams = std::ranges::count_if(section.rows, is_whole) == 1;
  std::vector<const LaunchRow*> rows;
  for (const LaunchRow& row : section.rows)
    if (is_whole(row) || with_streams) rows.push_back(&row);
  return rows;
}

std::string graphs_note(const LaunchesSection& section) {
  if (std::ranges::all_of(section.rows, &LaunchRow::has_calls)) return {};
  return "– means that all launches were in CUDA graphs, where one call starts many kernels.";
}

}  // namespace

std::vector<NotedTable> launch_tables(const Report& report, std::size_t most) {
  if (!report.launches) return {};
  NotedTable noted;
  noted.title = "Launches";
  noted.what = "medians (90th percentiles); delay: from the end of the call until the work starts";
  noted.table.columns = {
      {"rank"},   {"stream", Align::left}, {"launches"}, {"call"}, {"delay"}, {"short"}, {"queued"}, {"most"},
      {"starved"}};
  const std::vector<const LaunchRow*> rows = rows_of(*report.launches);
  noted.left_out = left_out(rows.size(), most);
  for (const LaunchRow* const row : std::span{rows}.first(rows.size() - noted.left_out.rows)) {
    noted.table.rows.push_back({{format("{}", row->rank.value)},
                                {row->stream == -1 ? "all" : format("{}:{}", row->device, row->stream)},
                                {format("{}", row->launches)},
                                {call_text(*row)},
                                {pair_text(row->delay)},
                                {short_text(*row)},
                                {format("{:.1f}", row->queue.mean)},
                                {format("{}", row->queue.most)},
                                {whole_percent(row->queue.empty_and_idle_share)}});
  }
  noted.notes.emplace_back(
      "Short: the share of kernels that took less time than the call that launched them. Queued: how many kernels and "
      "copies were launched but had not started, averaged over time; most: the largest such number. Starved: the share "
      "of the time in which nothing was queued and nothing ran. A long delay alone is not a problem: if much work is "
      "queued, delays are long, but the device is never idle.");
  if (std::string note = graphs_note(*report.launches); !note.empty()) noted.notes.push_back(std::move(note));
  if (const std::size_t hidden = report.launches->rows.size() - rows.size(); hidden > 0)
    noted.notes.push_back(
        format("{} of single streams {} not shown. To see the streams of one rank, select it with --ranks; the JSON "
               "report shows all.",
               counted(hidden, "row"), hidden == 1 ? "is" : "are"));
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
