#include "render/html/shades.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::html {
namespace {

constexpr double map_left = 88;
constexpr double map_right = 24;
constexpr double map_top = 4;
constexpr double map_bottom = 44;
constexpr double widest_map_cell = 64;

/// Up to which share of the largest amount a colour goes.
struct AmountShade {
  double share;
  LegendEntry entry;
};
constexpr std::array<AmountShade, 5> amount_shades{{{0, {"heat-3", "none"}},
                                                    {0.1, {"heat-4", "up to 10 % of the largest value"}},
                                                    {0.33, {"heat-5", "10 to 33 %"}},
                                                    {0.67, {"heat-6", "33 to 67 %"}},
                                                    {1e300, {"heat-7", "more than 67 %"}}}};

std::string_view colour_of(std::int64_t amount, std::int64_t largest) {
  const double share = static_cast<double>(amount) / static_cast<double>(std::max<std::int64_t>(1, largest));
  return std::ranges::find_if(amount_shades, [&](const AmountShade& shade) { return share <= shade.share; })
      ->entry.colour;
}

void draw_axes(Chart& chart, const RankMatrix& matrix, const RankMapWords& words, double width, double height) {
  const double base = map_top + height * static_cast<double>(matrix.rows.size());
  for (std::size_t row = 0; row < matrix.rows.size(); ++row)
    chart.text(map_left - 10, map_top + height * (static_cast<double>(row) + 0.5) + 4,
               format("rank {}", matrix.rows[row].value), "tick end");
  for (std::size_t column = 0; column < matrix.columns.size(); ++column)
    chart.text(map_left + width * (static_cast<double>(column) + 0.5), base + 18,
               format("{}", matrix.columns[column].value), "tick middle");
  chart.text(map_left, base + 36, format("rows: {}; columns: {}", words.row_axis, words.column_axis), "tick");
}

}  // namespace

void write_rank_map(Writer& page, const RankMatrix& matrix, const RankMapWords& words) {
  std::array<LegendEntry, amount_shades.size()> legend;
  std::ranges::transform(amount_shades, legend.begin(), &AmountShade::entry);
  write_legend(page, legend);
  const double width =
      std::min(widest_map_cell, (chart_width - map_left - map_right) / static_cast<double>(matrix.columns.size()));
  const double height = matrix.rows.size() > 16 ? 16 : 24;
  Chart chart{page, words.chart, map_top + height * static_cast<double>(matrix.rows.size()) + map_bottom};
  draw_axes(chart, matrix, words, width, height);
  for (std::size_t row = 0; row < matrix.rows.size(); ++row)
    for (std::size_t column = 0; column < matrix.columns.size(); ++column)
      write_bar(page,
                {map_left + width * static_cast<double>(column), map_top + height * static_cast<double>(row), width - 1,
                 height - 1},
                colour_of(matrix.amounts[row][column], matrix.largest),
                words.tooltip(matrix.rows[row], matrix.columns[column], matrix.amounts[row][column]));
}

}  // namespace rankscope::analyzer::html
