// Where the time of each rank went.
#include <algorithm>
#include <array>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"
#include "split/parts.h"

namespace rankscope::analyzer::html {
namespace {

constexpr std::array<LegendEntry, 6> parts{{{"compute", "compute"},
                                            {"wait", "waiting in communication"},
                                            {"transfer", "transfer"},
                                            {"unsplit", "waiting or transfer"},
                                            {"copies", "copies"},
                                            {"idle", "idle"}}};

/// In the order of `parts`; they add up to the window.
std::array<std::int64_t, parts.size()> parts_of(const TimeSplit& split) {
  return {split.compute_ns,          split.exposed_wait_ns,
          split.exposed_transfer_ns, split.exposed_comm_ns - split.exposed_wait_ns - split.exposed_transfer_ns,
          split.memory_ns,           split.idle_ns};
}

constexpr double left = 88;
constexpr double right = 24;
constexpr double top = 8;
constexpr double bottom = 44;
constexpr double bar_row_height = 26;

void draw_axis(Chart& chart, const TimeScale& time, double base, std::string_view title) {
  for (std::int64_t ns = 0; ns <= time.longest_ns; ns += time.tick_ns) {
    const double x = left + time.length(ns);
    chart.line(x, top, x, base, ns == 0 ? "axis" : "grid");
    chart.text(x, base + 18, time.label(ns), "tick middle");
  }
  chart.text((left + chart_width - right) / 2, base + 36, title, "tick middle");
}

void draw_rank(Writer& page, const RankRow& row, const TimeScale& time, double y) {
  const auto amounts = parts_of(row.total);
  const auto shares = apportioned(amounts, 1000);
  std::int64_t before = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (amounts[i] <= 0) continue;
    const double begin = time.length(before / steps_in(row));
    before += amounts[i];
    const double end = time.length(before / steps_in(row));
    write_bar(page, {left + begin, y + 3, end - begin, bar_row_height - 6}, parts[i].colour,
              format("rank {}: {} {} ({} %)", row.rank.value, parts[i].text, duration_text(amounts[i] / steps_in(row)),
                     decimal(shares[i], 1)));
  }
}

void draw(Writer& page, const RankRows& rows, bool per_step) {
  std::int64_t longest = 0;
  for (const auto* row : rows) longest = std::max(longest, row->total.window_ns / steps_in(*row));
  const auto time = time_scale(longest, chart_width - left - right);
  const double base = top + bar_row_height * static_cast<double>(rows.size());
  Chart chart{page,
              {"split-chart", "Time of each rank, by use",
               format("One bar for {}, divided into computation, communication that no computation hides, copies and "
                      "idle time. The tables below have the numbers.",
                      rows.size() == 1 ? "the only rank" : format("each of {} ranks", rows.size()))},
              base + bottom};
  draw_axis(chart, time, base, format("{}{}", time.unit, per_step ? " per step" : ""));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double y = top + bar_row_height * static_cast<double>(i);
    chart.text(left - 10, y + bar_row_height / 2 + 4, format("rank {}", rows[i]->rank.value), "tick end");
    draw_rank(page, *rows[i], time, y);
  }
}

}  // namespace

void write_split(Writer& page, const Source& source) {
  const Report& report = source.report;
  if (!report.rank_rows || report.rank_rows->empty()) return;
  const auto rows = rows_to_show(report, most_ranks_drawn);
  const std::int64_t steps = steps_of(rows);
  page.element("p",
               format("{}. Only communication that no computation hides counts as communication here.",
                      steps > 0 ? format("Mean of {}", counted(steps, "step")) : "The whole recording"),
               {{"class", "faint"}});
  if (const std::string doubt = compute_doubt_text(rows); !doubt.empty())
    page.element("p", doubt, {{"class", "warning"}});
  write_legend(page, parts);
  draw(page, rows, steps > 0);
  const auto* const per = steps > 0 ? " per step" : "";
  write_table(page, share_table(rows), format("Time of each rank: milliseconds{} and shares", per));
  write_table(page, detail_table(rows), format("Communication and idle time in milliseconds{}", per));
  page.element("p",
               "All comm = waiting + transfer + unknown, hidden behind compute or not; "
               "idle = host + sync + data + gaps + other.",
               {{"class", "faint"}});
  if (const std::string note = without_steps_text(report); !note.empty()) page.element("p", note);
  if (rows.size() < report.rank_rows->size()) {
    page.element(
        "p", format("Shown: {}; the JSON report lists all.", shown_rows_text(rows.size(), report.rank_rows->size())),
        {{"class", "faint"}});
  }
}

}  // namespace rankscope::analyzer::html
