// How long each step took, and each rank's own time in it.
#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"
#include "split/parts.h"
#include "split/step_columns.h"
#include "steps/parts.h"

namespace rankscope::analyzer::html {
namespace {

constexpr std::size_t most_lines = 16;
constexpr double steps_left = 64;
constexpr double steps_right = 88;  // room for the names of lines
constexpr double steps_top = 28;
constexpr double steps_bottom = 44;
constexpr double steps_height = 340;
constexpr double steps_base = steps_height - steps_bottom;

using Columns = std::vector<StepColumn>;

/// Places of columns and times.
struct Plot {
  TimeScale time;
  double column_width = 0;

  [[nodiscard]] double x(std::size_t column) const {
    return steps_left + (static_cast<double>(column) + 0.5) * column_width;
  }
  [[nodiscard]] double y(std::int64_t ns) const { return steps_base - time.length(std::min(ns, time.longest_ns)); }
};

/// Tall enough for the counted steps; a warm-up of several times their length is cut off and labelled.
Plot plot_of(const Columns& columns, const RankRows& rows) {
  std::int64_t longest = 0;
  std::int64_t longest_of_all = 0;
  for (const auto& column : columns) {
    longest_of_all = std::max(longest_of_all, column.wall_ns);
    if (column.counted.empty()) continue;
    longest = std::max(longest, column.wall_ns);
    for (const auto* row : rows) longest = std::max(longest, own_ns(*row, column));
  }
  if (longest == 0) longest = longest_of_all;
  Plot plot{time_scale(longest + longest / 10, steps_base - steps_top), 0};
  plot.column_width = (chart_width - steps_left - steps_right) / static_cast<double>(columns.size());
  return plot;
}

void draw_axes(Chart& chart, const Plot& plot, const Columns& columns) {
  for (std::int64_t ns = 0; ns <= plot.time.longest_ns; ns += plot.time.tick_ns) {
    chart.line(steps_left, plot.y(ns), chart_width - steps_right, plot.y(ns), ns == 0 ? "axis" : "grid");
    chart.text(steps_left - 8, plot.y(ns) + 4, format("{} {}", plot.time.label(ns), plot.time.unit), "tick end");
  }
  const std::size_t stride = label_stride(columns.size(), 20);
  for (std::size_t i = 0; i < columns.size(); i += stride)
    chart.text(plot.x(i), steps_base + 18, format("{}", columns[i].first), "tick middle");
  chart.text((steps_left + chart_width - steps_right) / 2, steps_height - 6, "step", "tick middle");
}

std::string tooltip_of(const StepColumn& column) {
  auto text = format("{}: {}", column.name(), duration_text(column.wall_ns));
  if (column.first != column.last) text += " on average";
  if (!column.left_out.empty()) text += format(" ({}, not counted)", column.left_out);
  return text;
}

void draw_columns(Writer& page, Chart& chart, const Plot& plot, const Columns& columns) {
  const double width = std::max(1.0, plot.column_width * 0.72);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& column = columns[i];
    const double y = plot.y(column.wall_ns);
    write_bar(page, {plot.x(i) - width / 2, y, width, steps_base - y},
              column.left_out.empty() ? "step" : "step left-out", tooltip_of(column));
    if (column.wall_ns > plot.time.longest_ns)
      chart.text(plot.x(i), steps_top - 6, "↑ " + duration_text(column.wall_ns), "tick middle");
  }
}

bool is_slow(const Report& report, const RankRow& row) {
  return report.stragglers &&
         std::ranges::find(report.stragglers->rows, row.rank, &Straggler::rank) != report.stragglers->rows.end();
}

void draw_line(Writer& page, const Plot& plot, const Columns& columns, const RankRow& row, std::string_view kind) {
  std::string points;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].counted.empty()) continue;
    points += format("{}{},{}", points.empty() ? "" : " ", number(plot.x(i)), number(plot.y(own_ns(row, columns[i]))));
  }
  page.empty("polyline", {{"class", format("rank-line {}", kind)}, {"points", points}});
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].counted.empty()) continue;
    const auto own = own_ns(row, columns[i]);
    const auto dot = page.scope("circle", {{"class", format("mark rank-dot {}", kind)},
                                           {"cx", number(plot.x(i))},
                                           {"cy", number(plot.y(own))},
                                           {"r", "3.5"}});
    page.element("title", format("rank {}, {}: own time {}{}", row.rank.value, columns[i].name(), duration_text(own),
                                 columns[i].first != columns[i].last ? " on average" : ""));
  }
}

/// Slow ranks last, so that they lie above the others, and with their names.
void draw_lines(Writer& page, Chart& chart, const Report& report, const Plot& plot, const Columns& columns) {
  const auto rows = rows_to_show(report, most_lines);
  for (const auto* row : rows)
    if (!is_slow(report, *row)) draw_line(page, plot, columns, *row, "usual");
  const auto last =
      std::find_if(columns.rbegin(), columns.rend(), [](const auto& one) { return !one.counted.empty(); });
  for (const auto* row : rows) {
    if (!is_slow(report, *row)) continue;
    draw_line(page, plot, columns, *row, "slow");
    chart.text(chart_width - steps_right + 6, plot.y(own_ns(*row, *last)) + 4, format("rank {}", row->rank.value),
               "label slow-text");
  }
}

void write_step_legend(Writer& page, const Report& report, bool with_lines) {
  std::vector<LegendEntry> entries{{"step", "time of the step"}};
  if (std::ranges::any_of(report.steps->steps, [](const Step& step) { return !step.complete || step.warm_up; }))
    entries.push_back({"step left-out", "not counted: warm-up or partial"});
  if (with_lines) entries.push_back({"swatch-usual", "own time of a rank: without waiting for others"});
  if (with_lines && report.stragglers && !report.stragglers->rows.empty())
    entries.push_back({"swatch-slow", "own time of a slow rank"});
  write_legend(page, entries);
}

Table table_of(const Columns& columns, const RankRows& rows) {
  Table table{{{"step"}, {"time"}, {"not counted", Align::left}}, {}};
  if (!rows.empty()) {
    table.columns.push_back({"shortest own time"});
    table.columns.push_back({"longest own time"});
    table.columns.push_back({"rank with the longest"});
  }
  for (const auto& column : columns) {
    std::vector<Cell> cells{
        {column.first == column.last ? format("{}", column.first) : format("{} to {}", column.first, column.last)},
        {duration_text(column.wall_ns)},
        {std::string{column.left_out}}};
    if (!rows.empty() && column.counted.empty()) cells.insert(cells.end(), 3, Cell{"–"});
    if (!rows.empty() && !column.counted.empty()) {
      const auto own = [&](const RankRow* row) { return own_ns(*row, column); };
      const auto [least, most] = std::ranges::minmax_element(rows, {}, own);
      cells.push_back({duration_text(own(*least))});
      cells.push_back({duration_text(own(*most))});
      cells.push_back({format("{}", (*most)->rank.value)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string columns_text(const Report& report, const Columns& columns) {
  const auto steps = static_cast<std::int64_t>(report.steps->steps.size());
  std::string text = format("One column for each of {} steps", steps);
  if (steps == 1) text = "One column for the only step";
  if (columns.front().first != columns.front().last)
    text =
        format("Columns of up to {} steps each, for {} steps", columns.front().last - columns.front().first + 1, steps);
  if (report.steps->median_ns > 0)
    text += format("{}{}", steps == 1 ? ", which took " : " with a median of ", duration_text(report.steps->median_ns));
  return text;
}

/// What is drawn: of many ranks some lines only, of none where own times are unknown.
std::string description_of(const Report& report, const Columns& columns, const RankRows& rows) {
  std::string lines;
  if (rows.size() == 1) lines = ", and a line with the own time of the only rank";
  if (rows.size() > 1)
    lines = format(", and one line for each of the {} ranks with the own time of that rank", rows.size());
  if (rows.size() > most_lines)
    lines = format(", and lines with the own times of {} of the {} ranks", most_lines, rows.size());
  return columns_text(report, columns) + lines + ". The table below has the numbers.";
}

RankRows all_rows(const Report& report) {
  RankRows rows;
  for (const auto& row : *report.rank_rows) rows.push_back(&row);
  return rows;
}

std::size_t count_counted(const StepsSection& steps) {
  return static_cast<std::size_t>(
      std::ranges::count_if(steps.steps, [](const Step& step) { return step.complete && !step.warm_up; }));
}

}  // namespace

bool have_steps(const Report& report) {
  if (!report.steps || !report.rank_rows || report.rank_rows->empty()) return false;
  const std::size_t counted = count_counted(*report.steps);
  const auto has_all = [&](const RankRow& row) { return row.per_step.size() == counted; };
  return counted > 0 && std::ranges::all_of(*report.rank_rows, has_all) &&
         std::ranges::all_of(report.asked_for.rows_left_out, has_all);
}

void write_steps(Writer& page, const Source& source) {
  const Report& report = source.report;
  if (!report.steps || report.steps->steps.empty()) return;
  const auto columns = step_columns(*report.steps);
  const bool with_lines = have_steps(report);
  const auto rows = with_lines ? all_rows(report) : RankRows{};
  page.element("p", steps_source(report) + note_on(columns), {{"class", "faint"}});
  write_step_legend(page, report, with_lines);
  {
    const auto plot = plot_of(columns, rows);
    Chart chart{page,
                {"step-chart", "Time of each step and of each rank in it", description_of(report, columns, rows)},
                steps_height};
    draw_axes(chart, plot, columns);
    draw_columns(page, chart, plot, columns);
    if (with_lines) draw_lines(page, chart, report, plot, columns);
  }
  if (rows.size() > most_lines)
    page.element("p",
                 format("Lines: {}; a page made with --ranks shows others.", shown_rows_text(most_lines, rows.size())),
                 {{"class", "faint"}});
  write_folded_table(page, table_of(columns, rows), "Steps as a table");
}

}  // namespace rankscope::analyzer::html
