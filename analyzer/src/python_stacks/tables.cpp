#include <algorithm>
#include <array>
#include <utility>

#include "python_stacks/parts.h"
#include "python_stacks/slow_code.h"
#include "rankscope/core/format.h"
#include "render/means.h"
#include "render/words.h"

namespace rankscope::analyzer {
namespace {

constexpr double least_share = 0.01;  // of a mean step
constexpr std::array phases{CodePhase::host, CodePhase::compute, CodePhase::data, CodePhase::worker};

struct Row {
  RankId rank;
  CodePhase phase;
  SlowCode code;
};

std::vector<Row> rows_of(const Report& report) {
  std::vector<Row> rows;
  const auto least_ns = static_cast<std::int64_t>(least_share * static_cast<double>(report.steps->mean_ns));
  for (const RankCode& own : report.python_stacks->ranks) {
    std::vector<RankCode> others;
    for (const RankCode& other : report.python_stacks->ranks)
      if (other.rank != own.rank) others.push_back(other);
    for (const CodePhase phase : phases)
      if (auto code = slow_code(own, others, std::span{&phase, 1}, least_ns))
        rows.push_back({own.rank, phase, std::move(*code)});
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Row& row) { return row.code.ns_per_step - row.code.peers_ns_per_step; });
  return rows;
}

}  // namespace

std::vector<NotedTable> python_stacks_tables(const Report& report, std::size_t most) {
  if (!report.python_stacks || !report.steps) return {};
  std::vector<Row> rows = rows_of(report);
  if (rows.empty()) return {};
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
      "From samples of the stacks, about 20 per second. Times in which the rank waits for others are left out; those "
      "of "
      "loader workers are of all workers together.");
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
