// The section on memory: how it is found, its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/copies/section.h"
#include "rankscope/analyzer/memory/section.h"
#include "rankscope/analyzer/section.h"
#include "rankscope/analyzer/split/section.h"
#include "rankscope/analyzer/steps/section.h"
#include "render/noted_table.h"
#include "render/source.h"
#include "rules/rule.h"
#include "steps/find.h"

namespace rankscope::analyzer {

struct Report;

/// All ranks, since peers are compared; sums over places are those of the ranks asked for. With steps asked for only
/// what lies between a rank's first and last of them.
[[nodiscard]] Section<MemorySection> memory_of(const Run& run, const Section<StepsSection>& steps,
                                               const Section<std::vector<RankRow>>& rows, const ReportOptions& options);

/// The device that stands for a rank: its accelerator with most allocated (else most reserved), else the host's
/// allocator; null if neither was recorded.
[[nodiscard]] const DeviceMemory* main_memory(const MemorySection& section, RankId rank);

/// The peaks in the rows of ranks.
void fill_memory_peaks(const Section<MemorySection>& section, std::vector<RankRow>& rows);

/// False if only sizes of processes are known, which are sampled in every recording.
[[nodiscard]] bool has_device_memory(const Report& report);
/// Peaks, who held the largest, what allocates. Nothing where no memory was recorded.
[[nodiscard]] std::vector<NotedTable> memory_tables(const Report& report, std::size_t most);

/// "device 1", "host, allocator".
[[nodiscard]] std::string memory_name(const DeviceMemory& memory);
/// "aten::mm in CompiledFunction"; empty where nothing was recorded.
[[nodiscard]] std::string place_words(const AllocationPlace& place);

/// The ones with the highest peaks, in their order.
[[nodiscard]] std::vector<const DeviceMemory*> largest_memories(const MemorySection& section, std::size_t most);
[[nodiscard]] nlohmann::ordered_json memory_json(const MemorySection& section, const Section<CopiesSection>& copies,
                                                 const ReportOptions& options);

void judge_memory(const RuleContext& context, std::vector<Finding>& findings);

namespace html {
void write_memory(Writer& page, const Source& source);
}  // namespace html

}  // namespace rankscope::analyzer
