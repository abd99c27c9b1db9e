// How late each rank was in each step, as the map of steps, the heat strip and the colours by rank show it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {
struct Report;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// A counted step of a rank.
struct LatenessCell {
  TimeRange window;
  std::int64_t own_ns = 0;  ///< without waiting for others (metrics.md 9.1)
  std::int64_t lag_ns = 0;  ///< the same minus the median of the ranks that have the step (metrics.md C4)
};

/// How much longer each rank worked in each step than the median rank did.
struct Lateness {
  std::vector<RankId> ranks;                       ///< ascending
  std::vector<analyzer::Step> steps;               ///< the counted ones
  std::vector<std::optional<LatenessCell>> cells;  ///< by rank, then step; none where the rank has no such step
  std::int64_t median_step_ns = 0;                 ///< shares are of it
  bool compares = false;                           ///< two ranks or more have a step in common

  [[nodiscard]] bool empty() const { return !compares; }
  [[nodiscard]] const std::optional<LatenessCell>& cell(std::size_t rank_row, std::size_t step_row) const {
    return cells[rank_row * steps.size() + step_row];
  }
  /// The lag as a part of the median step.
  [[nodiscard]] std::optional<float> share_of(std::size_t rank_row, std::size_t step_row) const;
  /// Mean over the steps that the rank has; nothing where it is not compared.
  [[nodiscard]] std::optional<float> mean_share(RankId rank) const;
};

/// Without ranks and steps where the report has none, or no median step.
[[nodiscard]] Lateness lateness_of(const analyzer::Report& report);

}  // namespace rankscope::gui
