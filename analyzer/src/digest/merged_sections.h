// The global halves over digests: each gives the section that the report of the whole run has.
#pragma once

#include <span>

#include "clocks/clock_trust.h"
#include "digest/rank_digest.h"
#include "rankscope/analyzer/copies/section.h"
#include "rankscope/analyzer/data_loading/section.h"
#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/analyzer/launches/section.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/steps/section.h"
#include "steps/find.h"

namespace rankscope::analyzer {

// The digests of all ranks of the run, ascending.

/// The times of the digests must be run time.
[[nodiscard]] StepsResult steps_from(std::span<const RankDigest> ranks, const ClockTrust& clocks,
                                     const ReportOptions& options);
[[nodiscard]] Section<KernelsSection> kernels_from(std::span<const RankDigest> ranks,
                                                   const Section<StepsSection>& steps, const ReportOptions& options);
/// `all_steps` as in tabulate_copies().
[[nodiscard]] Section<CopiesSection> copies_from(std::span<const RankDigest> ranks, const Section<StepsSection>& steps,
                                                 const Section<StepsSection>& all_steps, const ReportOptions& options);
[[nodiscard]] Section<DataLoadingSection> data_loading_from(std::span<const RankDigest> ranks,
                                                            const Section<StepsSection>& steps,
                                                            const ReportOptions& options);
[[nodiscard]] Section<LaunchesSection> launches_from(std::span<const RankDigest> ranks,
                                                     const Section<StepsSection>& steps, const ReportOptions& options);

}  // namespace rankscope::analyzer
