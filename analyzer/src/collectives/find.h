// Which events of different ranks are one operation, and how much of each was waiting (metrics.md 5 and 6).
#pragma once

#include <vector>

#include "clocks/clock_trust.h"
#include "rankscope/analyzer/collectives/section.h"
#include "rankscope/analyzer/section.h"

namespace rankscope::analyzer {

/// How the time of one member divides: first it waits, then it moves data. Not split: neither is known.
struct MemberPart {
  bool split = false;
  bool rest_is_transfer = true;  ///< false: it may have waited longer, for a rank that was not recorded
  std::int64_t wait_ns = 0;
  RankId waited_for{};  ///< none: it did not wait, or who started last is closer than the clocks can tell
};

/// For each row of Run::collectives() whether it is meant.
using RowSet = std::vector<bool>;

/// The matched operations of a run.
struct Matching {
  Section<CollectivesSection> section = unavailable("not computed");
  std::vector<MemberPart> parts;  ///< parallel to Run::collectives()
  RowSet matched;                 ///< found partners; empty without a section
  RowSet desynced;                ///< their partners disagree about what they are; empty without a section
  RowSet alone;                   ///< their partners were not recorded; empty without a section
  Quality quality;
};

[[nodiscard]] Matching match_collectives(const Run& run, const ClockTrust& clocks);

/// The same section from some members only: operations in which one of them took part, with the waits of these alone.
[[nodiscard]] CollectivesSection select_members(const Run& run, const ClockTrust& clocks, const Matching& matching,
                                                const RowSet& rows);

/// The operation of a row of groups[]: both sides of a pair are one.
[[nodiscard]] std::string group_operation(const Run& run, const Operation& operation);

/// True if the row ran in a group of at least two ranks: what a group of one does is no communication (metrics.md 2).
[[nodiscard]] bool is_shared(const Run& run, const Collective& collective);

}  // namespace rankscope::analyzer
