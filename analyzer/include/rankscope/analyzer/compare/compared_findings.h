// What two runs are found to have, and how much memory they need (metrics.md 17.2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankscope/analyzer/rules/finding.h"

namespace rankscope::analyzer {

/// A finding of both runs that is worse in B.
struct RisenFinding {
  FindingSeverity before = FindingSeverity::info;  ///< in A
  Finding now;
};

/// Findings are the same if they have one id, one rank and one subject, whatever their size.
struct ComparedFindings {
  std::vector<Finding> came;        ///< only in B, worst first
  std::vector<Finding> went;        ///< only in A
  std::vector<RisenFinding> risen;  ///< of those in both
  std::int64_t in_both = 0;
  std::string why_unknown;  ///< why one of the runs has none to compare; empty: both were judged
};

/// The memory of one device, or of the allocator of a host, of one rank in both runs.
struct MemoryChange {
  std::string who;                          ///< "rank 0, device 1"
  std::optional<std::int64_t> allocated_a;  ///< peaks
  std::optional<std::int64_t> allocated_b;
  std::optional<std::int64_t> reserved_a;
  std::optional<std::int64_t> reserved_b;
};

}  // namespace rankscope::analyzer
