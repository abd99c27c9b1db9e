// Differences from the usual as colours: blue is less, orange more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "render/html/elements.h"
#include "render/rank_matrix.h"

namespace rankscope::analyzer::html {

/// The class of a difference, by its share of a step. Both in ns; `step_ns` above 0.
[[nodiscard]] std::string_view shade_of(std::int64_t difference_ns, std::int64_t step_ns);

/// What the colours mean.
[[nodiscard]] std::vector<LegendEntry> shade_legend();

/// "+1.25", "−0.30", "0": ms.
[[nodiscard]] std::string signed_ms(std::int64_t ns);

// Amounts between pairs of ranks as colours.

struct RankMapWords {
  ChartWords chart;
  std::string_view row_axis;     ///< "rank that waited"
  std::string_view column_axis;  ///< "rank that was waited for"
  std::string (*tooltip)(RankId row, RankId column, std::int64_t amount);
};

/// Legend and map; there must be a cell.
void write_rank_map(Writer& page, const RankMatrix& matrix, const RankMapWords& words);

}  // namespace rankscope::analyzer::html
