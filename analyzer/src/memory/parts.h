// The section on memory: its tables, JSON and picture, and the rules that judge it.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "rankscope/analyzer/report.h"
#include "render/noted_table.h"
#include "render/source.h"
#include "rules/rule.h"

namespace rankscope::analyzer {

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
