// Steps as columns of a chart: one each, or of many steps several together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"

namespace rankscope::analyzer::html {

struct StepColumn {
  std::int64_t first = 0;  ///< indices of its steps
  std::int64_t last = 0;
  std::int64_t wall_ns = 0;          ///< mean of its counted steps; where it has none, of all
  std::vector<std::size_t> counted;  ///< places of its counted steps in RankRow::per_step
  std::string_view left_out;         ///< why it has none: "warm-up" or "partial"

  [[nodiscard]] std::string name() const;  ///< "step 5", "steps 5 to 9"
};

/// At most `most_columns` of equally many steps each.
[[nodiscard]] std::vector<StepColumn> step_columns(const StepsSection& steps);
inline constexpr std::size_t most_columns = 120;

/// " Each column is the mean of up to 4 steps."; empty where each stands for one.
[[nodiscard]] std::string note_on(const std::vector<StepColumn>& columns);

/// Mean over the counted steps of a column of one rank's own time (metrics.md 9.1), and of its windows.
[[nodiscard]] std::int64_t own_ns(const RankRow& row, const StepColumn& column);
[[nodiscard]] std::int64_t window_ns(const RankRow& row, const StepColumn& column);

}  // namespace rankscope::analyzer::html
