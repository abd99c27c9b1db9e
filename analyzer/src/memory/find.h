// Memory of accelerators and hosts: peaks and who held them, timeline, what is left, growth, peers (metrics.md 14).
#pragma once

#include "steps/find.h"

namespace rankscope::analyzer {

/// All ranks, since peers are compared; sums over places are those of the ranks asked for. With steps asked for only
/// what lies between a rank's first and last of them.
[[nodiscard]] Section<MemorySection> memory_of(const Run& run, const Section<StepsSection>& steps,
                                               const Section<std::vector<RankRow>>& rows, const ReportOptions& options);

/// The device that stands for a rank: its accelerator with most allocated (else most reserved), else the host's
/// allocator; null if neither was recorded.
[[nodiscard]] const DeviceMemory* main_memory(const MemorySection& section, RankId rank);

/// The peaks in the rows of ranks.
void fill_memory_peaks(const Section<MemorySection>& section, std::vector<RankRow>& rows);

}  // namespace rankscope::analyzer
