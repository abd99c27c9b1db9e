// What was computed, and the ladder of losses down to the model at the peak of the devices.
#include "flops/parts.h"

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

constexpr double left = 240;
constexpr double right = 80;
constexpr double top = 8;
constexpr double bottom = 44;
constexpr double row_height = 24;

std::string_view colour_of(LadderStep step) {
  switch (step) {
    case LadderStep::idle_host:
    case LadderStep::idle_sync:
    case LadderStep::idle_data:
    case LadderStep::idle_kernel_gap:
    case LadderStep::idle_other:
      return "idle";
    case LadderStep::memory:
      return "copies";
    case LadderStep::exposed_unsplit:
      return "unsplit";
    case LadderStep::exposed_wait:
      return "wait";
    case LadderStep::exposed_transfer:
      return "transfer";
    case LadderStep::kernels_not_counted:
      return "not-counted";
    case LadderStep::kernels_below_peak:
    case LadderStep::kernels:
      return "below-peak";
    case LadderStep::model:
    case LadderStep::compute:
      return "compute";
  }
  return "idle";
}

struct Rung {
  LadderPart part;
  std::int64_t points = 0;  ///< hundredths
  std::int64_t before = 0;  ///< points that were left above it
};

/// Those that take something away, and the last one.
std::vector<Rung> rungs_of(const Ladder& ladder) {
  const auto points = points_of(ladder);
  std::vector<Rung> rungs;
  std::int64_t left_points = 10'000;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (ladder.parts[i].ns != 0 || i + 1 == points.size()) rungs.push_back({ladder.parts[i], points[i], left_points});
    left_points -= points[i];
  }
  return rungs;
}

void draw(Writer& page, const FlopsSection& section) {
  const std::vector<Rung> rungs = rungs_of(*section.ladder);
  const double base = top + row_height * static_cast<double>(rungs.size());
  const double pixels = chart_width - left - right;
  const auto place = [pixels](std::int64_t points) { return left + static_cast<double>(points) / 10'000 * pixels; };
  Chart chart{page,
              {"loss-ladder", "Lost time, from the total time down to the model's time at peak speed",
               "One bar for each kind of lost time, on a scale from 100 points (all the time of the devices) down to "
               "0. The table below has the numbers."},
              base + bottom};
  for (std::int64_t points = 0; points <= 10'000; points += 2'000) {
    chart.line(place(points), top, place(points), base, points == 0 ? "axis" : "grid");
    chart.text(place(points), base + 18, format("{}", points / 100), "tick middle");
  }
  chart.text(place(5'000), base + 36, "points (100 = the time of all devices)", "tick middle");
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Rung& rung = rungs[i];
    const double y = top + row_height * static_cast<double>(i);
    const std::string amount = decimal(rung.points, 2);
    chart.text(left - 10, y + row_height / 2 + 4, words_of(rung.part.step), "tick end");
    write_bar(page, {place(rung.before - rung.points), y + 3, place(rung.points) - left, row_height - 6},
              colour_of(rung.part.step),
              format("{}: {} points, {} ms", words_of(rung.part.step), amount,
                     Means{0, rank_steps_of(section)}.ms(rung.part.ns)));
    chart.text(place(rung.before) + 8, y + row_height / 2 + 4, amount, "tick");
  }
}

/// The last column: the chart has them.
void leave_out_bars(Table& ladder) {
  ladder.columns.pop_back();
  for (auto& row : ladder.rows) row.pop_back();
}

}  // namespace

void write_flops(Writer& page, const Source& source) {
  std::vector<NotedTable> tables = flop_tables(source.report, most_rows(source.options));
  if (tables.empty()) return;  // the second one is the ladder, where there is one
  const FlopsSection& section = *source.report.flops;
  if (section.ladder) {
    draw(page, section);
    leave_out_bars(tables[1].table);
  }
  write_noted_tables(page, tables);
}

}  // namespace rankscope::analyzer::html
