#include "pipeline/worker_grid.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "math/statistics.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

struct Row {
  std::vector<RankId> ranks;
  std::vector<std::int64_t> work_ns;
};

std::vector<Row> all_rows(const PipelineSection& section) {
  const std::int64_t steps = std::max<std::int64_t>(1, section.steps);
  std::map<RankId, std::int64_t> work;
  for (const PipelineRank& rank : section.ranks) work[rank.rank] = rank.busy_ns / steps;
  std::vector<Row> rows(static_cast<std::size_t>(std::max<std::int64_t>(0, section.pipelines)));
  for (std::size_t pipeline = 0; pipeline < rows.size(); ++pipeline)
    for (const PipelinePlace& place : section.places) {
      const RankId rank = pipeline < place.ranks.size() ? place.ranks[pipeline] : RankId::none();
      const auto known = work.find(rank);
      rows[pipeline].ranks.push_back(known == work.end() ? RankId::none() : rank);
      rows[pipeline].work_ns.push_back(known == work.end() ? 0 : known->second);
    }
  return rows;
}

std::vector<std::int64_t> known_work(const std::vector<Row>& rows) {
  std::vector<std::int64_t> all;
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.ranks.size(); ++i)
      if (row.ranks[i].is_set()) all.push_back(row.work_ns[i]);
  return all;
}

std::int64_t farthest(const Row& row, std::int64_t median_ns) {
  std::int64_t far = 0;
  for (std::size_t i = 0; i < row.ranks.size(); ++i)
    if (row.ranks[i].is_set()) far = std::max<std::int64_t>(far, std::llabs(row.work_ns[i] - median_ns));
  return far;
}

/// The rows farthest from the median, in their order.
void keep(std::vector<Row>& rows, std::size_t most, std::int64_t median_ns) {
  if (rows.size() <= most) return;
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t row) { return farthest(rows[row], median_ns); });
  order.resize(most);
  std::ranges::sort(order);
  std::vector<Row> kept;
  for (const std::size_t row : order) kept.push_back(std::move(rows[row]));
  rows = std::move(kept);
}

std::int64_t mean_length(const PipelineSection& section) {
  std::int64_t sum = 0;
  for (const PipelineRank& rank : section.ranks) sum += rank.span_ns / std::max<std::int64_t>(1, section.steps);
  return std::max<std::int64_t>(1, sum / std::max<std::int64_t>(1, std::ssize(section.ranks)));
}

std::string cell_text(RankId rank, std::int64_t work_ns) {
  return rank.is_set() ? format("{:.2f}", static_cast<double>(work_ns) / 1e6) : "–";
}

}  // namespace

WorkerGrid worker_grid(const PipelineSection& section, std::size_t most_pipelines) {
  WorkerGrid grid;
  if (section.pipelines < 2 || section.places.size() < 2) return grid;
  std::vector<Row> rows = all_rows(section);
  const std::vector<std::int64_t> all = known_work(rows);
  if (all.empty()) return grid;
  grid.median_ns = median(all);
  grid.step_ns = mean_length(section);
  grid.pipelines_left_out = rows.size() - std::min(rows.size(), most_pipelines);
  keep(rows, most_pipelines, grid.median_ns);
  for (Row& row : rows) {
    grid.ranks.push_back(std::move(row.ranks));
    grid.work_ns.push_back(std::move(row.work_ns));
  }
  return grid;
}

Table table_of(const WorkerGrid& grid) {
  Table table{{{"pipeline of rank", Align::left, 20}}, {}};
  for (std::size_t place = 0; place < grid.ranks.front().size(); ++place)
    table.columns.push_back({format("position {}", place)});
  for (std::size_t row = 0; row < grid.ranks.size(); ++row) {
    const auto first = std::ranges::find_if(grid.ranks[row], &RankId::is_set);
    std::vector<Cell> cells{{first == grid.ranks[row].end() ? "–" : format("{}", first->value)}};
    for (std::size_t place = 0; place < grid.ranks[row].size(); ++place)
      cells.push_back({cell_text(grid.ranks[row][place], grid.work_ns[row][place])});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace rankscope::analyzer
