// The path that determined how long a step is, drawn over the ranks that it touches.
#include "critical_path/parts.h"

#include <algorithm>
#include <array>
#include <map>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "render/html/elements.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

constexpr std::size_t most_stretches = 1'500;  // drawn; shorter ones are joined
constexpr double path_left = 88;
constexpr double path_right = 24;
constexpr double path_top = 8;
constexpr double bottom = 44;
constexpr double path_row_height = 26;

constexpr std::array<std::string_view, path_class_count> path_colours{"compute", "transfer", "copies", "step",
                                                                      "loading", "wait",     "unsplit"};

/// Rows of the picture: the ranks that the path of the drawn step touches, ascending.
std::map<RankId, std::size_t> rows_of(const CriticalPathSection& path) {
  std::map<RankId, std::int64_t> spent;
  for (const PathStretch& stretch : path.drawn) spent[stretch.rank] += stretch.time.length().count();
  std::vector<std::pair<std::int64_t, RankId>> longest;
  for (const auto& [rank, ns] : spent) longest.emplace_back(-ns, rank);
  std::ranges::sort(longest);
  longest.resize(std::min(longest.size(), most_ranks_drawn));
  std::map<RankId, std::size_t> rows;
  for (const auto& [ns, rank] : longest) rows.emplace(rank, 0);
  std::size_t row = 0;
  for (auto& [rank, place] : rows) place = row++;
  return rows;
}

/// Neighbours on one rank that are too short to be seen become one, of the kind that takes most of it.
std::vector<PathStretch> visible(const CriticalPathSection& path) {
  if (path.drawn.size() <= most_stretches) return path.drawn;
  const nanoseconds least =
      (path.drawn.back().time.end - path.drawn.front().time.begin) / static_cast<std::int64_t>(most_stretches);
  std::vector<PathStretch> joined;
  nanoseconds longest{0};
  for (const PathStretch& stretch : path.drawn) {
    const bool joins = !joined.empty() && joined.back().rank == stretch.rank && joined.back().time.length() < least;
    if (!joins) {
      joined.push_back(stretch);
      longest = stretch.time.length();
      continue;
    }
    joined.back().time.end = stretch.time.end;
    if (stretch.time.length() <= longest) continue;
    longest = stretch.time.length();
    joined.back().kind = stretch.kind;
    joined.back().name = stretch.name;
  }
  return joined;
}

void draw(Writer& page, const Source& source, const CriticalPathSection& path) {
  const RunTime begin = path.drawn.front().time.begin;
  const auto rows = rows_of(path);
  const auto time = time_scale((path.drawn.back().time.end - begin).count(), chart_width - path_left - path_right);
  const double base = path_top + path_row_height * static_cast<double>(rows.size());
  Chart chart{
      page,
      {"path-chart",
       path.whole_recording ? "Critical path of the recording" : format("Critical path of step {}", path.drawn_step),
       format("From left to right: the work that determined the length of the step, each piece in the row of its rank "
              "({}). The tables below have the numbers.",
              counted(static_cast<std::int64_t>(rows.size()), "rank"))},
      base + bottom};
  for (std::int64_t ns = 0; ns <= time.longest_ns; ns += time.tick_ns) {
    const double x = path_left + time.length(ns);
    chart.line(x, path_top, x, base, ns == 0 ? "axis" : "grid");
    chart.text(x, base + 18, time.label(ns), "tick middle");
  }
  chart.text((path_left + chart_width - path_right) / 2, base + 36, format("{} since the start", time.unit),
             "tick middle");
  for (const auto& [rank, row] : rows)
    chart.text(path_left - 10, path_top + path_row_height * (static_cast<double>(row) + 0.5) + 4,
               rank.is_set() ? format("rank {}", rank.value) : "no rank", "tick end");
  for (const PathStretch& stretch : visible(path)) {
    const auto row = rows.find(stretch.rank);
    if (row == rows.end()) continue;
    const double x = path_left + time.length((stretch.time.begin - begin).count());
    const std::string name = stretch.name.is_set() ? " in " + printable(source.run.text(stretch.name)) : std::string{};
    write_bar(
        page,
        {x, path_top + path_row_height * static_cast<double>(row->second) + 3,
         time.length(stretch.time.length().count()), path_row_height - 6},
        path_colours[static_cast<std::size_t>(stretch.kind)],
        format("{}{}: {}", words_of(stretch.kind), shortened(name, 90), duration_text(stretch.time.length().count())));
  }
}

}  // namespace

void write_critical_path(Writer& page, const Source& source) {
  if (!source.report.critical_path || source.report.critical_path->drawn.empty()) return;
  const CriticalPathSection& path = *source.report.critical_path;
  std::vector<LegendEntry> legend;
  for (std::size_t i = 0; i < path_class_count; ++i)
    if (path.sums_ns[i] > 0) legend.push_back({path_colours[i], words_of(static_cast<PathClass>(i))});
  write_legend(page, legend);
  draw(page, source, path);
  write_noted_tables(page, critical_path_tables(source.report, most_rows(source.options)));
}

}  // namespace rankscope::analyzer::html
