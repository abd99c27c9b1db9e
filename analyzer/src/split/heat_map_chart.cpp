// Which rank was late in which step: differences as colours.
#include <algorithm>

#include "math/statistics.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/html/shades.h"
#include "render/words.h"
#include "split/parts.h"
#include "split/step_columns.h"

namespace rankscope::analyzer::html {
namespace {

constexpr double map_left = 88;
constexpr double map_right = 24;
constexpr double map_top = 4;
constexpr double map_bottom = 44;

/// Ranks × columns of steps.
struct HeatMap {
  ChartWords words;
  std::string_view what;     ///< "own time"
  std::string_view against;  ///< "the median rank"
  const RankRows& rows;
  const std::vector<StepColumn>& columns;             ///< only those with counted steps
  std::int64_t step_ns = 1;                           ///< median step
  std::vector<std::vector<std::int64_t>> times_ns{};  ///< by column, then rank
  std::vector<std::int64_t> references_ns{};          ///< by column

  [[nodiscard]] std::int64_t difference_ns(std::size_t row, std::size_t column) const {
    return times_ns[column][row] - references_ns[column];
  }
};

double row_height(const HeatMap& map) { return map.rows.size() > 16 ? 16 : 24; }

void draw_cell(Writer& page, const HeatMap& map, std::size_t row, std::size_t column) {
  const double width = (chart_width - map_left - map_right) / static_cast<double>(map.columns.size());
  const auto difference = map.difference_ns(row, column);
  const double gap = width > 6 ? 1 : 0;
  write_bar(page,
            {map_left + width * static_cast<double>(column), map_top + row_height(map) * static_cast<double>(row),
             width - gap, row_height(map) - 1},
            shade_of(difference, map.step_ns),
            format("rank {}, {}: {} {}, {} ms relative to {}", map.rows[row]->rank.value, map.columns[column].name(),
                   map.what, duration_text(map.times_ns[column][row]), signed_ms(difference), map.against));
}

void draw(Writer& page, const HeatMap& map) {
  const double base = map_top + row_height(map) * static_cast<double>(map.rows.size());
  Chart chart{page, map.words, base + map_bottom};
  const double width = (chart_width - map_left - map_right) / static_cast<double>(map.columns.size());
  const std::size_t rank_stride = label_stride(map.rows.size(), 32);
  for (std::size_t row = 0; row < map.rows.size(); row += rank_stride) {
    chart.text(map_left - 10, map_top + row_height(map) * (static_cast<double>(row) + 0.5) + 4,
               format("rank {}", map.rows[row]->rank.value), "tick end");
  }
  const std::size_t stride = label_stride(map.columns.size(), 20);
  for (std::size_t column = 0; column < map.columns.size(); column += stride) {
    chart.text(map_left + width * (static_cast<double>(column) + 0.5), base + 18,
               format("{}", map.columns[column].first), "tick middle");
  }
  chart.text((map_left + chart_width - map_right) / 2, base + 36, "step", "tick middle");
  for (std::size_t row = 0; row < map.rows.size(); ++row)
    for (std::size_t column = 0; column < map.columns.size(); ++column) draw_cell(page, map, row, column);
}

Table table_of(const HeatMap& map) {
  Table table{{{"rank"}}, {}};
  for (const auto& column : map.columns) table.columns.push_back({column.name()});
  for (std::size_t row = 0; row < map.rows.size(); ++row) {
    std::vector<Cell> cells{{format("{}", map.rows[row]->rank.value)}};
    for (std::size_t column = 0; column < map.columns.size(); ++column)
      cells.push_back({signed_ms(map.difference_ns(row, column))});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

/// Against the median of all ranks, shown or not.
HeatMap lateness(const Report& report, const RankRows& rows, const std::vector<StepColumn>& columns) {
  HeatMap map{.words = {"lateness-map", "Own time relative to the median rank of the same step",
                        "One cell for each rank and step, coloured by how much longer the rank worked than the median "
                        "rank; the table below has the numbers."},
              .what = "own time",
              .against = "the median rank",
              .rows = rows,
              .columns = columns,
              .step_ns = report.steps->median_ns};
  for (const auto& column : columns) {
    std::vector<std::int64_t> all;
    for (const auto* ranks : {&*report.rank_rows, &report.asked_for.rows_left_out})
      for (const auto& row : *ranks) all.push_back(own_ns(row, column));
    map.references_ns.push_back(median(all));
    auto& times = map.times_ns.emplace_back();
    for (const auto* row : rows) times.push_back(own_ns(*row, column));
  }
  return map;
}

HeatMap step_times(const Report& report, const RankRows& rows, const std::vector<StepColumn>& columns) {
  HeatMap map{.words = {"step-map", "Step time relative to the median step",
                        "One cell for each rank and step, coloured by how much longer the step took on that rank than "
                        "the median step; the table below has the numbers."},
              .what = "step time",
              .against = "the median step",
              .rows = rows,
              .columns = columns,
              .step_ns = report.steps->median_ns};
  for (const auto& column : columns) {
    map.references_ns.push_back(report.steps->median_ns);
    auto& times = map.times_ns.emplace_back();
    for (const auto* row : rows) times.push_back(window_ns(*row, column));
  }
  return map;
}

}  // namespace

void write_heat_maps(Writer& page, const Source& source) {
  const Report& report = source.report;
  if (!have_steps(report) || report.steps->median_ns <= 0) return;
  auto columns = step_columns(*report.steps);
  std::erase_if(columns, [](const StepColumn& column) { return column.counted.empty(); });
  const auto rows = rows_to_show(report, most_ranks_drawn);
  const bool several = report.rank_rows->size() + report.asked_for.rows_left_out.size() > 1;
  page.element(
      "p",
      format("Colours show differences as a percentage of the median step time. {}{}",
             several ? "Own time (upper map) leaves out waiting for other ranks: a row that stays orange there "
                       "is a slow rank. A column that is orange in the lower map is a slow step."
                     : "An orange cell is a slow step.",
             note_on(columns)),
      {{"class", "faint"}});
  if (rows.size() < report.rank_rows->size())
    page.element("p", format("Shown: {}; a page made with --ranks shows others.",
                             shown_rows_text(rows.size(), report.rank_rows->size())));
  write_legend(page, shade_legend());
  if (several) {
    const auto map = lateness(report, rows, columns);
    draw(page, map);
    write_folded_table(page, table_of(map), "Own time relative to the median rank, in milliseconds");
  }
  const auto map = step_times(report, rows, columns);
  draw(page, map);
  write_folded_table(page, table_of(map), "Step time relative to the median step, in milliseconds");
}

}  // namespace rankscope::analyzer::html
