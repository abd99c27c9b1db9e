// What the recording states about itself: metadata for the head of the report, and plain facts of each rank.
#pragma once

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Metadata of the run and what all ranks state alike, by key. What was injected as a fault is never among them.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> facts_of(const Run& run);
/// `steps` limits the samples to the steps asked for; null = the whole recording.
[[nodiscard]] std::vector<RankFacts> rank_facts_of(const Run& run, const StepsSection* steps);
/// Blocks of a paced run that took longer than their nominal time, on all ranks.
[[nodiscard]] std::uint64_t pace_overruns_of(const Run& run);

/// Values of one counter of a rank's process, in order of time; empty if it was not recorded. With `steps` only those
/// from the rank's first to its last step in it.
[[nodiscard]] std::vector<double> counter_values(const Run& run, RankId rank, std::string_view name,
                                                 const StepsSection* steps);
/// The middle of unsorted values; nothing for none.
[[nodiscard]] std::optional<double> middle_of(std::vector<double> values);

}  // namespace rankscope::analyzer
