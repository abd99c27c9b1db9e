// The members of each operation, found by their keys (metrics.md 5).
#pragma once

#include <span>
#include <vector>

#include "collectives/find.h"

namespace rankscope::analyzer {

/// Operations with their members, and the members that agree with nobody.
struct MatchedOperations {
  std::vector<Operation> operations;  ///< in no particular order
  std::vector<Desync> desyncs;        ///< the first of each group
  std::uint64_t desynced_operations = 0;
  std::vector<std::uint32_t> desynced_rows;  ///< of Run::collectives()
  std::uint64_t rows = 0;                    ///< members of groups with at least two ranks
  bool by_call_order = false;                ///< sequence numbers were missing in some group
  bool in_steps = false;                     ///< ... whose calls were then counted anew in each step
  bool by_ends = false;                      ///< some group was not recorded, but found by when its collectives ended
  bool pairs_by_times = false;  ///< some sends and receives did not name their partners, but were paired by their times
};

[[nodiscard]] MatchedOperations match_operations(const Run& run, const ClockTrust& clocks);

// Parts of operations that found no partner, and why (metrics.md 5).

/// Rows of Run::collectives() in groups of two or more ranks that are not `matched`, by reason. `desynced` are rows
/// whose partners disagree about what the operation is; `only`, where given, are the rows that are meant.
[[nodiscard]] std::vector<UnmatchedParts> explain_unmatched(const Run& run, const RowSet& matched,
                                                            const RowSet& desynced, const RowSet* only);

}  // namespace rankscope::analyzer
