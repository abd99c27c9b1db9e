// Findings that came and went, and peaks of memory.
#pragma once

#include "rankscope/analyzer/compare/compare.h"

namespace rankscope::analyzer {

[[nodiscard]] ComparedFindings compare_findings(const RunDigest& a, const RunDigest& b);
/// Of the memories that both runs recorded, by rank and device.
[[nodiscard]] std::vector<MemoryChange> compare_memory(const RunDigest& a, const RunDigest& b);

}  // namespace rankscope::analyzer
