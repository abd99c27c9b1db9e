// The parts of a recording that enter sums of a rank (metrics.md C6).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

/// The windows of the counted steps, ascending; of a rank without any its whole recording.
struct CountedWindows {
  std::vector<TimeRange> ranges;
  std::int64_t steps = 0;  ///< 0: the whole recording
};
[[nodiscard]] CountedWindows counted_windows(const Run& run, RankId rank, const Section<StepsSection>& steps);

/// The ranks whose numbers may be summed: steps and whole recordings are not added (C6), so that where any of them has
/// counted steps, those without are left out.
[[nodiscard]] std::vector<RankId> ranks_to_sum(std::vector<RankId> ranks, const Section<StepsSection>& steps);
enum class Among : std::uint8_t { all_ranks, accelerators };
/// Of the ranks asked for.
[[nodiscard]] std::vector<RankId> ranks_to_sum(const Run& run, const Section<StepsSection>& steps,
                                               const ReportOptions& options, Among among);

/// Set where the steps asked for are not there or do not count: never the whole recording in their place.
[[nodiscard]] std::string why_nothing_counts(const Section<StepsSection>& steps, const ReportOptions& options);

}  // namespace rankscope::analyzer
