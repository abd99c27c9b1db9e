// How late each rank was in each step, as the heat strip and the colours by rank show it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankscope/analyzer/report.h"

namespace rankscope::gui {

/// Own time of each rank in each counted step against the median of all ranks (metrics.md 9.1).
struct Lateness {
  std::vector<RankId> ranks;          ///< ascending
  std::vector<analyzer::Step> steps;  ///< the counted ones
  std::vector<std::int64_t> lag_ns;   ///< by rank, then step; below 0: quicker than the median
  std::vector<float> share;           ///< the same, as a part of the step's wall time

  [[nodiscard]] bool empty() const { return share.empty(); }
  [[nodiscard]] float share_of(std::size_t rank_row, std::size_t step_row) const {
    return share[rank_row * steps.size() + step_row];
  }
  /// Mean over the steps; nothing where the rank is not compared.
  [[nodiscard]] std::optional<float> mean_share(RankId rank) const;
};

/// Empty where the report has no steps or fewer than two ranks.
[[nodiscard]] Lateness lateness_of(const analyzer::Report& report);

}  // namespace rankscope::gui
