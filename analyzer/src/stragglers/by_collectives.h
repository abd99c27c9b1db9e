// What the collectives of a run with few steps prove about a rank (metrics.md 9.4).
#pragma once

#include <optional>
#include <string>

#include "rankscope/analyzer/blame/section.h"
#include "rankscope/analyzer/stragglers/section.h"
#include "split/peers.h"
#include "stragglers/arrivals.h"

namespace rankscope::analyzer {

/// What collectives say about all ranks.
struct CollectiveFacts {
  Arrivals arrivals{};
  const BlameSection* blame = nullptr;  ///< null: not known
};

/// That a rank is the one for which the others waited.
struct CollectiveEvidence {
  EvidenceUnits units{};
  std::int64_t lag_ns = 0;  ///< how long one of the others waited for it per step, hidden behind nothing
  double share = 0;         ///< of all such waiting
  StragglerKind kind = StragglerKind::mixed;

  [[nodiscard]] std::string text() const;
};

/// Nothing where chance could do it: the longest wait must be for the rank in each of two, three or four steps, of more
/// steps as often as chance does not explain; and four fifths of all waiting must be for it. Of two steps more is asked
/// for (9.4).
[[nodiscard]] std::optional<CollectiveEvidence> evidence_against(const PeerClass& peers, std::size_t peer,
                                                                 const CollectiveFacts& facts);

}  // namespace rankscope::analyzer
