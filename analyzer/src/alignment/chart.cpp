// What alignment leaves of the ends of operations, per clock over time.
#include <algorithm>
#include <cmath>

#include "alignment/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/left_out.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

constexpr std::size_t most_clocks = 16;
constexpr double left = 190;
constexpr double right = 16;
constexpr double top = 8;
constexpr double row_height = 64;
constexpr double half_row = 26;
constexpr double axis_height = 40;

struct Plot {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 1;
  std::int64_t most_late_ns = 1;  ///< at the edge of a row; what lies beyond is drawn there

  [[nodiscard]] double x(std::int64_t ns) const {
    const double share = static_cast<double>(ns - begin_ns) / static_cast<double>(end_ns - begin_ns);
    return left + std::clamp(share, 0.0, 1.0) * (chart_width - left - right);
  }
  [[nodiscard]] double y(std::int64_t late_ns, double middle) const {
    return middle - std::clamp(static_cast<double>(late_ns) / static_cast<double>(most_late_ns), -1.0, 1.0) * half_row;
  }
};

using Rows = std::vector<const ClockRow*>;

/// The most doubtful where there are many.
Rows rows_to_draw(const ClocksSection& section) {
  Rows rows;
  for (const ClockRow& clock : section.clocks)
    if (!clock.residuals.empty()) rows.push_back(&clock);
  if (rows.size() <= most_clocks) return rows;
  std::ranges::stable_sort(rows, std::greater<>{}, &ClockRow::error_ns);
  rows.resize(most_clocks);
  return rows;
}

Plot plot_of(const Rows& rows) {
  Plot plot{rows.front()->residuals.front().at_ns, rows.front()->residuals.front().at_ns + 1, 1};
  std::vector<std::int64_t> distances;
  for (const ClockRow* const clock : rows) {
    for (const ClockResidual& point : clock->residuals) {
      plot.begin_ns = std::min(plot.begin_ns, point.at_ns);
      plot.end_ns = std::max(plot.end_ns, point.at_ns);
      distances.push_back(std::abs(point.late_ns));
    }
  }
  const auto place = distances.begin() + static_cast<std::ptrdiff_t>((distances.size() - 1) * 98 / 100);
  std::ranges::nth_element(distances, place);
  plot.most_late_ns = std::max<std::int64_t>(1000, *place + *place / 10);
  return plot;
}

void draw_row(Writer& page, Chart& chart, const Plot& plot, const ClockRow& clock, double middle) {
  chart.line(left, middle, chart_width - right, middle, "axis");
  chart.text(left - 12, middle + 4, shortened(clock.name, 18), "label end");
  chart.text(left - 12, middle - half_row + 8, "+" + duration_text(plot.most_late_ns), "tick end");
  chart.text(left - 12, middle + half_row + 4, "-" + duration_text(plot.most_late_ns), "tick end");
  for (const ClockResidual& point : clock.residuals) {
    const bool beyond = std::abs(point.late_ns) > plot.most_late_ns;
    const auto dot = page.scope("circle", {{"class", beyond ? "mark rank-dot slow" : "mark rank-dot usual"},
                                           {"cx", number(plot.x(point.at_ns))},
                                           {"cy", number(plot.y(point.late_ns, middle))},
                                           {"r", "2"}});
    page.element("title", format("{}: the operation ended {} {} than on the median clock", clock.name,
                                 duration_text(std::abs(point.late_ns)), point.late_ns < 0 ? "earlier" : "later"));
  }
}

void draw(Writer& page, const Rows& rows) {
  const Plot plot = plot_of(rows);
  const double height = top + row_height * static_cast<double>(rows.size()) + axis_height;
  const LegendEntry entries[]{{"swatch-usual", "end of an operation, relative to the median of all clocks"},
                              {"swatch-slow", "end of an operation that is too early or too late to fit into the row"}};
  write_legend(page, entries);
  Chart chart{page,
              {"clock-chart", "Ends of operations after alignment",
               "One row per clock. A dot above the line is an operation that ended later than on the other clocks. "
               "Level rows show that the clocks were aligned well; slopes, bends and jumps show that they were not."},
              height};
  const double base = height - axis_height;
  const TimeScale time = time_scale(plot.end_ns - plot.begin_ns, chart_width - left - right);
  for (std::int64_t tick = 0; tick <= plot.end_ns - plot.begin_ns; tick += time.tick_ns) {
    chart.line(left + time.length(tick), top, left + time.length(tick), base, "grid");
    chart.text(left + time.length(tick), base + 16, time.label(tick), "tick middle");
  }
  chart.text((left + chart_width - right) / 2, height - 6,
             format("time since the first operation ended, in {}", time.unit), "tick middle");
  for (std::size_t i = 0; i < rows.size(); ++i)
    draw_row(page, chart, plot, *rows[i], top + row_height * (static_cast<double>(i) + 0.5));
}

}  // namespace

void write_clocks(Writer& page, const Source& source) {
  const ClocksSection& section = source.report.clocks;
  if (section.clocks.size() < 2) return;
  for (const ClockLine& line : clock_lines(source.report))
    page.element("p", line.text, {{"class", std::string{class_of(line.tone)}}});
  const Rows rows = rows_to_draw(section);
  if (!rows.empty()) draw(page, rows);
  write_table(page, clock_table(section, most_rows(source.options)), "How the clocks differ from each other");
  if (section.clocks.size() > most_rows(source.options))
    page.element("p", only_in_json(section.clocks.size() - most_rows(source.options), "clock"));
}

}  // namespace rankscope::analyzer::html
