// The efficiency tree, drawn, and where all time of the ranks went.
#include "efficiency/parts.h"

#include <array>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

constexpr double left = 240;
constexpr double right = 80;
constexpr double top = 8;
constexpr double row_height = 26;
constexpr double indent = 20;

void draw_tree(Writer& page, const EfficiencySection& section) {
  const std::vector<TreeLine> lines = tree_lines(section);
  const double base = top + row_height * static_cast<double>(lines.size());
  const double pixels = chart_width - left - right;
  Chart chart{page,
              {"efficiency-tree", "Parallel efficiency and its factors",
               "One bar for each factor, from 0 to 100 %. Indented bars are factors of the bar above them. The table "
               "below has the numbers."},
              base + 44};
  for (int percent = 0; percent <= 100; percent += 20) {
    const double x = left + pixels * percent / 100;
    chart.line(x, top, x, base, percent == 0 ? "axis" : "grid");
    chart.text(x, base + 18, format("{}", percent), "tick middle");
  }
  chart.text(left + pixels / 2, base + 36, "percent", "tick middle");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const TreeLine& line = lines[i];
    const double y = top + row_height * static_cast<double>(i);
    const double x = 8 + indent * static_cast<double>(line.depth);
    if (line.depth > 0) {  // a branch from the row of its parent
      chart.line(x - indent / 2, y - row_height / 2 + 6, x - indent / 2, y + row_height / 2, "axis");
      chart.line(x - indent / 2, y + row_height / 2, x - 3, y + row_height / 2, "axis");
    }
    chart.text(x, y + row_height / 2 + 4, line.name, line.depth == 0 ? "label" : "tick");
    const double shown = std::min(1.0, line.value);  // serialization may exceed 1
    write_bar(page, {left, y + 3, pixels * shown, row_height - 6}, "compute",
              format("{}: {:.1f} %{}", line.name, 100 * line.value,
                     line.meaning.empty() ? "" : format("; {}", line.meaning)));
    chart.text(left + pixels * shown + 8, y + row_height / 2 + 4, format("{:.1f} %", 100 * line.value), "tick");
  }
}

constexpr std::array<std::string_view, ledger_part_count> colours{
    "compute", "transfer", "wait", "unsplit", "copies", "idle", "idle", "idle", "idle", "idle", "step"};

void draw_ledger(Writer& page, const EfficiencySection& section) {
  const auto tenths = apportioned(section.ledger, 1000);
  constexpr double side = 8;
  const double pixels = chart_width - 2 * side;
  Chart chart{
      page,
      {"time-ledger", "All time of all ranks",
       "One bar, divided into computation, communication, copies, idle time and the time after a rank has ended "
       "its own step. The table below has the numbers."},
      64};
  double x = side;
  for (std::size_t i = 0; i < ledger_part_count; ++i) {
    if (section.ledger[i] <= 0) continue;
    const double width = pixels * static_cast<double>(section.ledger[i]) / static_cast<double>(section.whole_ns);
    write_bar(page, {x, 4, width, 28}, colours[i],
              format("{}: {} %", words_of(static_cast<LedgerPart>(i)), decimal(tenths[i], 1)));
    x += width;
  }
  chart.text(side, 52, "0 %", "tick");
  chart.text(chart_width - side, 52, "100 % of the ranks' time", "tick end");
}

void write_grouping(Writer& page, const Grouping& grouping, std::string_view what, std::string_view caption) {
  if (const Table table = grouping_table(grouping, what); !table.rows.empty()) write_table(page, table, caption);
  if (grouping.groups.size() > 1 && !grouping.caveat.empty())
    page.element("p", format("Caveat: {}.", printable(grouping.caveat)), {{"class", "faint"}});
}

}  // namespace

void write_efficiency(Writer& page, const Source& source) {
  if (!source.report.efficiency) return;
  const EfficiencySection& section = *source.report.efficiency;
  page.element("p",
               "Parallel efficiency is the share of the ranks' time spent computing: load balance × communication × "
               "orchestration. 80 % or more is usually fine.",
               {{"class", "faint"}});
  draw_tree(page, section);
  write_table(page, tree_table(section), "Factors of the parallel efficiency");
  for (const std::string& note : efficiency_notes(source.report)) page.element("p", note, {{"class", "faint"}});
  constexpr std::array<LegendEntry, 7> legend{{{"compute", "compute"},
                                               {"transfer", "transfer"},
                                               {"wait", "waiting for other ranks"},
                                               {"unsplit", "waiting or transfer"},
                                               {"copies", "copies"},
                                               {"idle", "idle"},
                                               {"step", "done before other ranks"}}};
  write_legend(page, legend);
  draw_ledger(page, section);
  write_table(page, ledger_table(section),
              section.steps.empty() ? "All time: milliseconds per rank" : "All time: milliseconds per step and rank");
  write_grouping(page, section.classes, "ranks that should do equal work", "Efficiency of classes of peers");
  write_grouping(page, section.hosts, "host", "Efficiency of hosts");
}

}  // namespace rankscope::analyzer::html
