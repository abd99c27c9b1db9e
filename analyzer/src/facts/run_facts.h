// What the recording states about itself: metadata for the head of the report, and plain facts of each rank.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rankscope/analyzer/options.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Metadata of the run and what all ranks state alike, by key. What was injected as a fault is never among them.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(const Run& run);
/// The CPU use is that in steps; memory that of the whole recording, or of the steps asked for.
[[nodiscard]] std::vector<RankFacts> rank_facts_of(const Run& run, const Section<StepsSection>& steps,
                                                   const ReportOptions& options);
/// Blocks of a paced run that took longer than their nominal time, on all ranks.
[[nodiscard]] std::uint64_t pace_overruns_of(const Run& run);

}  // namespace rankscope::analyzer
