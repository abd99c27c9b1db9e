// Pipelines side by side × places: which of their ranks works longer, and whether all of a place or pipeline do.
#include <algorithm>

#include "pipeline/parts.h"
#include "pipeline/worker_grid.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/html/shades.h"
#include "words/units.h"

namespace rankscope::analyzer::html {
namespace {

constexpr double grid_left = 110;
constexpr double grid_right = 24;
constexpr double grid_top = 4;
constexpr double grid_bottom = 44;
constexpr double widest_cell = 120;
constexpr std::size_t most_pipelines = 64;

double cell_width(const WorkerGrid& grid) {
  return std::min(widest_cell, (chart_width - grid_left - grid_right) / static_cast<double>(grid.ranks.front().size()));
}

double cell_height(const WorkerGrid& grid) { return grid.ranks.size() > 16 ? 14 : 24; }

void draw_labels(Chart& chart, const WorkerGrid& grid, double base) {
  const std::size_t row_stride = label_stride(grid.ranks.size(), 32);
  for (std::size_t row = 0; row < grid.ranks.size(); row += row_stride)
    if (const RankId first = grid.ranks[row].front(); first.is_set())
      chart.text(grid_left - 10, grid_top + cell_height(grid) * (static_cast<double>(row) + 0.5) + 4,
                 format("of rank {}", first.value), "tick end");
  const std::size_t places = grid.ranks.front().size();
  const double width = cell_width(grid);
  for (std::size_t place = 0; place < places; place += label_stride(places, 20))
    chart.text(grid_left + width * (static_cast<double>(place) + 0.5), base + 18, std::to_string(place), "tick middle");
  chart.text(grid_left + width * static_cast<double>(places) / 2, base + 36, "position in the pipeline", "tick middle");
}

void draw(Writer& page, const WorkerGrid& grid) {
  const double base = grid_top + cell_height(grid) * static_cast<double>(grid.ranks.size());
  Chart chart{
      page,
      {"worker-map", "Work of each rank, by pipeline and position",
       "One cell for each rank, coloured by how much longer the rank works in a step than the median rank; the table "
       "below has the numbers."},
      base + grid_bottom};
  draw_labels(chart, grid, base);
  const double width = cell_width(grid);
  for (std::size_t row = 0; row < grid.ranks.size(); ++row)
    for (std::size_t place = 0; place < grid.ranks[row].size(); ++place) {
      if (!grid.ranks[row][place].is_set()) continue;
      const std::int64_t difference = grid.work_ns[row][place] - grid.median_ns;
      write_bar(
          page,
          {grid_left + width * static_cast<double>(place), grid_top + cell_height(grid) * static_cast<double>(row),
           width > 6 ? width - 1 : width, cell_height(grid) - 1},
          shade_of(difference, grid.step_ns),
          format("rank {}, position {}: works {} per step, {} ms relative to the median rank",
                 grid.ranks[row][place].value, place, duration_text(grid.work_ns[row][place]), signed_ms(difference)));
    }
}

}  // namespace

void write_worker_map(Writer& page, const PipelineSection& section) {
  const WorkerGrid grid = worker_grid(section, most_pipelines);
  if (grid.ranks.empty()) return;
  page.element("p",
               "Colours show the difference from the median rank, in percent of a step. An orange column shows a "
               "position with too much of the model, an orange row a pipeline with more work, and a single orange cell "
               "a slow rank.",
               {{"class", "faint"}});
  if (grid.pipelines_left_out > 0)
    page.element("p", format("Not drawn: {} whose work is closer to the median than that of those drawn.",
                             counted(grid.pipelines_left_out, "pipeline")));
  write_legend(page, shade_legend());
  draw(page, grid);
  write_folded_table(page, table_of(grid), "Work of each rank per step, in milliseconds");
}

}  // namespace rankscope::analyzer::html
