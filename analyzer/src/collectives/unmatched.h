// Parts of operations that found no partner, and why (metrics.md 5).
#pragma once

#include <span>
#include <vector>

#include "collectives/find.h"

namespace rankscope::analyzer {

/// Rows of Run::collectives() in groups of two or more ranks that are not `matched`, by reason. `desynced` are rows
/// whose partners disagree about what the operation is; `only`, where given, are the rows that are meant.
[[nodiscard]] std::vector<UnmatchedParts> explain_unmatched(const Run& run, const RowSet& matched,
                                                            const RowSet& desynced, const RowSet* only);

}  // namespace rankscope::analyzer
