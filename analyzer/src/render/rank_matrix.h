// Amounts between pairs of ranks, as a table or a map; of many ranks those with the largest sums.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankscope/core/id.h"
#include "render/page.h"

namespace rankscope::analyzer {

struct RankCell {
  RankId row;
  RankId column;
  std::int64_t amount = 0;
};

struct RankMatrix {
  std::vector<RankId> rows;                        ///< ascending
  std::vector<RankId> columns;                     ///< ascending
  std::vector<std::vector<std::int64_t>> amounts;  ///< by row, then column; 0: none
  std::int64_t largest = 0;
  std::int64_t left_out = 0;  ///< amounts of pairs that are not in it
};
[[nodiscard]] RankMatrix rank_matrix(std::span<const RankCell> cells, std::size_t most_ranks);

/// `corner` names the rows; the columns are ranks.
[[nodiscard]] Table table_of(const RankMatrix& matrix, std::string_view corner, std::string (*text_of)(std::int64_t));

}  // namespace rankscope::analyzer
