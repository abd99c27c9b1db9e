// How far each rank came in the collectives of its groups.
#pragma once

#include <optional>
#include <vector>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// An operation that peers started and a rank did not.
struct MissedOperation {
  RankId peer;      ///< who started it first
  RunTime started;  ///< on the peer's clock
};

/// Progress of one rank through its groups.
struct Frontier {
  RankId rank;
  std::int64_t missed = 0;               ///< operations that a peer started and this rank did not
  std::int64_t unfinished = 0;           ///< operations that it started or enqueued and did not finish
  std::optional<MissedOperation> first;  ///< the earliest of the missed ones
};

/// One per present rank, ascending. Send and receive do not count: they have no common order.
[[nodiscard]] std::vector<Frontier> comm_frontiers(const Run& run);

}  // namespace rankscope::analyzer
