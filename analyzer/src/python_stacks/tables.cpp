#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "python_stacks/parts.h"
#include "python_stacks/slow_code.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_share = 0.01;  // of a mean step
constexpr double least_sigmas = 3.5;
constexpr std::int64_t least_samples = 3;  // of a line of a rank that is not compared
constexpr double by_chance = 0.05;         // that an even run has a row
constexpr std::array phases{CodePhase::host, CodePhase::compute, CodePhase::data, CodePhase::worker};

struct Row {
  RankId rank;
  CodePhase phase;
  SlowCode code;
};

/// The table shows the largest of all differences, so that each must be one that chance hardly makes among so many: by
/// the bound exp(-z^2 / 2) / 2 of what lies above z standard deviations.
double sigmas_among(std::span<const RankCode> codes) {
  std::size_t compared = 1;
  for (const RankCode& code : codes) compared += 2 * code.lines.size();  // lines, and functions
  return std::max(least_sigmas, std::sqrt(2 * std::log(static_cast<double>(compared) / (2 * by_chance))));
}

std::int64_t least_ns(const Report& report) {
  return static_cast<std::int64_t>(least_share * static_cast<double>(report.steps->mean_ns));
}

std::vector<Row> rows_of(const Report& report) {
  std::vector<Row> rows;
  const std::span<const RankCode> codes = report.python_stacks->ranks;
  const SlowCodeLimits limits{.least_ns = least_ns(report), .sigmas = sigmas_among(codes)};
  for (const CodePhase phase : phases) {
    const CodeOfPeers compared{codes, std::span{&phase, 1}};
    for (std::size_t rank = 0; rank < codes.size(); ++rank)
      if (auto code = compared.slow_code(rank, limits)) rows.push_back({codes[rank].rank, phase, std::move(*code)});
  }
  std::ranges::stable_sort(rows, {}, &Row::rank);
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return row.code.ns_per_step - row.code.peers_ns_per_step; });
  return rows;
}

/// Lines of the only rank that was sampled: there is nothing to compare them with, but they say what its host does.
NotedTable lines_of(const RankCode& code, std::int64_t least_ns, std::size_t most) {
  NotedTable noted{"Python code",
                   format("lines of code on which rank {} spends the most time, mean per step", code.rank.value),
                   Table{{{"function", Align::left}, {"line", Align::left}, {"while", Align::left}, {"ms"}}, {}},
                   {}};
  std::vector<const CodeLine*> lines;
  for (const CodeLine& line : code.lines)
    if (line.samples >= least_samples && code.per_step(line.ns) >= least_ns) lines.push_back(&line);
  noted.left_out = left_out(lines.size(), most);
  lines.resize(lines.size() - noted.left_out.rows);
  const Means one{1, 1};
  for (const CodeLine* const line : lines)
    noted.table.rows.push_back({{printable(line->function)},
                                {printable(format("{}:{}", line->file, line->line))},
                                {std::string{name_of(line->phase)}},
                                {one.ms(code.per_step(line->ns))}});
  noted.notes.push_back(
      format("Only the code of rank {} was sampled: there is nothing to compare it with.", code.rank.value));
  noted.notes.emplace_back(
      "In the column \"while\", \"host\" means outside of operators, forward, backward and optimizer. There are few "
      "samples: a time from n samples is uncertain by about √n samples.");
  return noted;
}

NotedTable nothing_stands_out() {
  NotedTable noted{.title = "Python code", .what = {}, .table = {}};
  noted.notes.emplace_back("No function takes clearly longer on one rank than on the others.");
  return noted;
}

}  // namespace

std::vector<NotedTable> python_stacks_tables(const Report& report, std::size_t most) {
  if (!report.python_stacks || !report.steps) return {};
  const std::vector<RankCode>& codes = report.python_stacks->ranks;
  if (codes.size() == 1) return {lines_of(codes.front(), least_ns(report), most)};
  std::vector<Row> rows = rows_of(report);
  if (rows.empty()) return {nothing_stands_out()};
  NotedTable noted{"Python code", "functions in which a rank spends more time than the others, mean per step",
                   Table{{{"rank"},
                          {"function", Align::left},
                          {"line", Align::left},
                          {"while", Align::left},
                          {"ms"},
                          {"others, median"}},
                         {}},
                   left_out(rows.size(), most)};
  rows.resize(rows.size() - noted.left_out.rows);
  const Means one{1, 1};
  for (const Row& row : rows)
    noted.table.rows.push_back({{format("{}", row.rank.value)},
                                {printable(row.code.function)},
                                {printable(format("{}:{}", row.code.file, row.code.line))},
                                {std::string{name_of(row.phase)}},
                                {one.ms(row.code.ns_per_step)},
                                {one.ms(row.code.peers_ns_per_step)}});
  noted.notes.emplace_back(
      "Based on about 20 stack samples per second. In the column \"while\", \"host\" means outside of operators, "
      "forward, backward and optimizer. Time in which the rank waits for others is left out. Times of loader workers "
      "are summed over all workers of the rank.");
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
