#include "render/rank_matrix.h"

#include <algorithm>
#include <limits>
#include <map>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

/// The ranks with the largest sums, ascending.
std::vector<RankId> largest(const std::map<RankId, double>& sums, std::size_t most) {
  std::vector<std::pair<double, RankId>> order;
  for (const auto& [rank, sum] : sums) order.emplace_back(-sum, rank);
  std::ranges::sort(order);
  order.resize(std::min(order.size(), most));
  std::vector<RankId> ranks;
  for (const auto& [sum, rank] : order) ranks.push_back(rank);
  std::ranges::sort(ranks);
  return ranks;
}

}  // namespace

RankMatrix rank_matrix(std::span<const RankCell> cells, std::size_t most_ranks) {
  std::map<RankId, double> rows;
  std::map<RankId, double> columns;
  for (const RankCell& cell : cells) {
    rows[cell.row] += static_cast<double>(cell.amount);
    columns[cell.column] += static_cast<double>(cell.amount);
  }
  RankMatrix matrix;
  matrix.rows = largest(rows, most_ranks);
  matrix.columns = largest(columns, most_ranks);
  matrix.amounts.assign(matrix.rows.size(), std::vector<std::int64_t>(matrix.columns.size(), 0));
  for (const RankCell& cell : cells) {
    const auto row = std::ranges::lower_bound(matrix.rows, cell.row);
    const auto column = std::ranges::lower_bound(matrix.columns, cell.column);
    if (row == matrix.rows.end() || *row != cell.row || column == matrix.columns.end() || *column != cell.column) {
      if (__builtin_add_overflow(matrix.left_out, cell.amount, &matrix.left_out))
        matrix.left_out = std::numeric_limits<std::int64_t>::max();
      continue;
    }
    matrix.amounts[static_cast<std::size_t>(row - matrix.rows.begin())]
                  [static_cast<std::size_t>(column - matrix.columns.begin())] = cell.amount;
    matrix.largest = std::max(matrix.largest, cell.amount);
  }
  return matrix;
}

Table table_of(const RankMatrix& matrix, std::string_view corner, std::string (*text_of)(std::int64_t)) {
  Table table{{{std::string{corner}}}, {}};
  for (const RankId column : matrix.columns) table.columns.push_back({format("rank {}", column.value)});
  for (std::size_t row = 0; row < matrix.rows.size(); ++row) {
    std::vector<Cell> cells{{format("{}", matrix.rows[row].value)}};
    for (const std::int64_t amount : matrix.amounts[row]) cells.push_back({amount == 0 ? "·" : text_of(amount)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace rankscope::analyzer
