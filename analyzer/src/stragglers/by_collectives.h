// What collectives prove about a rank whose own times do not: in few steps, or where only some are slow
// (metrics.md 9.4).
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
  EvidenceUnits units{};    ///< operations, or steps
  std::int64_t lag_ns = 0;  ///< how long one of the others waited for it per step, hidden behind nothing
  double share = 0;         ///< of all such waiting, less what ranks of a pipeline cause equally
  StragglerKind kind = StragglerKind::mixed;
  bool of_steps = false;     ///< `units` are steps
  bool in_pipeline = false;  ///< most waiting was in sends and receives
  bool lasts = true;         ///< false: the others waited for it in too few steps to say that it is always slow

  [[nodiscard]] std::string text() const;
};

/// Nothing where chance could do it, or less than four fifths of all waiting is for it. Of two to four steps the
/// longest wait must be for this rank in each (not in a pipeline: its stages wait in a chain), and its own time must
/// exceed that of the others by far more than these scatter (of two steps still more is asked for); of more steps in
/// nearly all of those with a wait of `long_ns`.
[[nodiscard]] std::optional<CollectiveEvidence> evidence_against(const PeerClass& peers, std::size_t peer,
                                                                 const CollectiveFacts& facts, std::int64_t long_ns);

}  // namespace rankscope::analyzer
