// A recording as the progress of its ranks.
#pragma once

#include <vector>

#include "importers/shared/comm_progress.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer::hang {

/// Calls of all ranks, and where each of them was last. How processes ended is left to the caller, who may know that
/// they were alive longer than their recordings show: until `alive_unix_ns`, or 0.
[[nodiscard]] JobProgress progress_of_run(const Run& run, std::int64_t alive_unix_ns);

/// Whether operations were carried out. One that the communication library gave up with an error (a timeout, a peer
/// that was gone; attribute "failed") has an end, but was not.
class FinishedCalls {
 public:
  explicit FinishedCalls(const Run& run);
  [[nodiscard]] bool has(const Collective& call) const;

 private:
  const Run& run_;
  bool some_failed_;
};

/// True for a call in a group of several ranks, by the process that stands for its rank.
[[nodiscard]] bool is_call_of_rank(const Run& run, const Collective& call);
/// Calls of the process that stands for a rank, in the order in which it made them.
[[nodiscard]] std::vector<const Collective*> calls_of(const Run& run, RankId rank);

}  // namespace rankscope::analyzer::hang
