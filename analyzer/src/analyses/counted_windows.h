// The parts of a recording that enter sums of a rank (metrics.md C6).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyses/steps.h"

namespace rankscope::analyzer {

/// The windows of the counted steps, ascending; of a rank without any its whole recording.
struct CountedWindows {
  std::vector<TimeRange> ranges;
  std::int64_t steps = 0;  ///< 0: the whole recording
};
[[nodiscard]] CountedWindows counted_windows(const Run& run, RankId rank, const Section<StepsSection>& steps);

/// Set where the steps asked for are not there or do not count: never the whole recording in their place.
[[nodiscard]] std::string why_nothing_counts(const Section<StepsSection>& steps, const ReportOptions& options);

}  // namespace rankscope::analyzer
