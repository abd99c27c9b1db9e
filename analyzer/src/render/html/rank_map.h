// Amounts between pairs of ranks as colours.
#pragma once

#include <string>

#include "render/html/elements.h"
#include "render/rank_matrix.h"

namespace rankscope::analyzer::html {

struct RankMapWords {
  ChartWords chart;
  std::string_view row_axis;     ///< "rank that waited"
  std::string_view column_axis;  ///< "rank that was waited for"
  std::string (*tooltip)(RankId row, RankId column, std::int64_t amount);
};

/// Legend and map; there must be a cell.
void write_rank_map(Writer& page, const RankMatrix& matrix, const RankMapWords& words);

}  // namespace rankscope::analyzer::html
