// The members of each operation, found by their keys (metrics.md 5); no times are looked at.
#pragma once

#include <vector>

#include "rankscope/analyzer/report.h"

namespace rankscope::analyzer {

/// Operations with their members, and the members that agree with nobody.
struct MatchedOperations {
  std::vector<Operation> operations;  ///< in no particular order
  std::vector<Desync> desyncs;        ///< the first of each group
  std::uint64_t desynced_operations = 0;
  std::vector<std::uint32_t> desynced_rows;  ///< of Run::collectives()
  std::uint64_t rows = 0;                    ///< members of groups with at least two ranks
  bool by_call_order = false;                ///< sequence numbers were missing in some group
  bool by_ends = false;                      ///< some group was not recorded, but found by when its operations ended
};

[[nodiscard]] MatchedOperations match_operations(const Run& run);

}  // namespace rankscope::analyzer
