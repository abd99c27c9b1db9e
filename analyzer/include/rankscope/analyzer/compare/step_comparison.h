// How the steps of two runs differ in length (metrics.md 17.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/analyzer/rules/finding.h"

namespace rankscope::analyzer {

/// Which way the steps went.
enum class StepVerdict : std::uint8_t { unchanged, slower, faster, cannot_tell };
[[nodiscard]] std::string_view name_of(StepVerdict verdict);

/// What stands for all steps of a run. The mean is the total time of the counted steps, divided by their number: it
/// shows stalls in single steps, which the median does not.
enum class StepMeasure : std::uint8_t { median, mean };
[[nodiscard]] std::string_view name_of(StepMeasure measure);

/// By how much a measure changed from A to B, and the 95 % interval around it, as shares: 0.03 = 3 % longer.
struct MeasureChange {
  double change = 0;
  double low = 0;
  double high = 0;
  bool operator==(const MeasureChange&) const = default;
};

/// Whether steps became longer, which is what `gate` judges.
struct StepComparison {
  StepVerdict verdict = StepVerdict::cannot_tell;
  std::string why;               ///< why it cannot be told; empty: it can
  std::optional<double> change;  ///< median of B / median of A - 1
  std::optional<double> low;     ///< 95 % interval; set if there are enough steps
  std::optional<double> high;
  FindingSeverity severity = FindingSeverity::info;  ///< of a change (metrics.md 20)
  std::optional<MeasureChange> mean{};               ///< set if there are enough steps
  StepMeasure judged_by = StepMeasure::median;       ///< what the verdict is about
};

}  // namespace rankscope::analyzer
