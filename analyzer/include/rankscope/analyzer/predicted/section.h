// What a training program said it would hold and send, beside what was recorded (metrics.md 14, 6).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// Why there is no section where no rank predicts anything.
inline constexpr std::string_view no_prediction = "no prediction was recorded (rankscope train records one)";

/// A quantity that the trainer computed before it began, and what was recorded of it.
struct PredictedAmount {
  std::int64_t predicted_bytes = 0;
  std::optional<std::int64_t> measured_bytes;
  std::string why_not_measured;  ///< empty where it was

  /// (measured - predicted) / predicted; nothing where one of them is missing or 0.
  [[nodiscard]] std::optional<double> off() const;
};

/// What one rank was to hold and to send; not set where it predicts nothing of the kind.
struct PredictedRow {
  RankId rank;
  std::optional<PredictedAmount> held;  ///< between two steps: parameters and what is as large as they are
  std::optional<PredictedAmount> sent;  ///< given to others in a step: the median step
};

/// How well memory and traffic were predicted: large differences mean that the run did something else.
struct PredictedSection {
  std::vector<PredictedRow> rows;  ///< of ranks that predict something, ascending
};

}  // namespace rankscope::analyzer
